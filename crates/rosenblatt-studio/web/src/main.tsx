// The page.
import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ask, connection } from "./api";
import { Ask, Commands, Take } from "./Ask";
import { DataPanel, dataTab, takeFiles } from "./DataPanel";
import { Lesson, close, open } from "./Lessons";
import { restoreLink } from "./link";
import { Measures, StepPanel } from "./Measures";
import { OptionsPanel } from "./OptionsPanel";
import { Picture, inWords } from "./Picture";
import { Player, frames, playing } from "./Player";
import { about, compare, data, goto, lesson, load, places, recorded, said, shownSlots, slots } from "./store";
import { projector, theme, type Theme } from "./theme";
import type { About, Given } from "./types";

const dragging = signal(false);

function Header() {
  const inLesson = lesson.value !== null;
  return (
    <header>
      <h1>{recorded ? `Replay of ${recorded.about.name}` : "Rosenblatt studio"}</h1>
      {!recorded && (
        <nav class="tabs" aria-label="Screens">
          <button type="button" aria-current={inLesson ? undefined : "page"} onClick={close}>Explore</button>
          <button type="button" id="lessons" aria-current={inLesson ? "page" : undefined} onClick={() => void open(0)}>Lessons</button>
        </nav>
      )}
      <div class="modes">
        <label class="check"><input type="checkbox" id="projector" checked={projector.value} onChange={(e) => (projector.value = e.currentTarget.checked)} /> Projector</label>
        <label class="row"><span>Theme</span>
          <select id="theme" value={theme.value} onChange={(e) => (theme.value = e.currentTarget.value as Theme)}>
            <option value="auto">as the system</option><option value="light">light</option><option value="dark">dark</option>
          </select>
        </label>
      </div>
    </header>
  );
}

/** What a screen reader hears: each visit while stepping, now and then while playing. */
function Live() {
  const [text, setText] = useState("");
  const now = `${shownSlots.value.map((slot) => inWords(slot)).join(" ")}`;
  const spoken = said.value;
  useEffect(() => {
    const wait = setTimeout(() => setText(now), playing.value ? 2500 : 250);
    return () => clearTimeout(wait);
  }, [now, playing.value]);
  return (
    <>
      <p class="hidden" role="status" id="status">{text}</p>
      <p class="hidden" role="status">{spoken}</p>
    </>
  );
}

/** Settings in a few words. */
const named = ({ learner, ...rest }: Given) =>
  [learner, ...Object.entries(rest).map(([name, value]) => (value === "true" ? name : `${name} ${value}`))].join(", ");

function App() {
  const both = compare.value;
  return (
    <>
      <Header />
      {connection.value && <p class="connection" role="alert">{connection.value}</p>}
      <main class={`${lesson.value !== null ? "in-lesson" : ""} ${recorded ? "replay" : ""}`}>
        {!recorded && (
          <div class="left">
            {lesson.value !== null ? <Lesson /> : <><DataPanel /><OptionsPanel /><Take /></>}
          </div>
        )}
        <div class="middle">
          <div class={both ? "pictures two" : "pictures"}>
            {shownSlots.value.map((slot) => (
              <figure key={slot.index}>
                {both && <figcaption>Setting {slot.index + 1}: {named(slot.given.value)}</figcaption>}
                <Picture slot={slot} />
              </figure>
            ))}
          </div>
          <Player />
          <p class="words">{shownSlots.value.map((slot) => <span>{both ? `Setting ${slot.index + 1}: ` : ""}{inWords(slot)} </span>)}</p>
          {!recorded && <Commands />}
        </div>
        <div class="right">
          {shownSlots.value.map((slot) => (
            <>
              <StepPanel key={`step-${slot.index}`} slot={slot} title={both ? `Setting ${slot.index + 1}: visit` : slot.facts.value?.traced === false ? "Pass" : "Visit"} />
              {!recorded && slot.index === 0 && <Ask />}
              <Measures slot={slot} title={both ? `Setting ${slot.index + 1}: run` : "Run"} />
            </>
          ))}
          {!recorded && lesson.value !== null && <Take />}
        </div>
      </main>
      <Live />
      {dragging.value && <div class="dropping" aria-hidden="true">Drop to learn from this file</div>}
    </>
  );
}

function listen(): void {
  const over = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    dragging.value = true;
  };
  addEventListener("dragenter", over);
  addEventListener("dragover", over);
  addEventListener("dragleave", (event) => event.relatedTarget === null && (dragging.value = false));
  addEventListener("drop", (event) => {
    dragging.value = false;
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    lesson.value = null;
    dataTab.value = "file";
    void takeFiles(event.dataTransfer.files);
  });
}

async function begin(): Promise<void> {
  if (recorded) {
    data.value = recorded.about;
    places.value = recorded.places;
    slots[0].facts.value = recorded.facts;
    slots[0].curve.value = recorded.curve;
    await goto(0);
    return;
  }
  listen();
  about.value = await ask<About>("about");
  if (await restoreLink(location.hash)) return;
  if (about.value.given) {
    dataTab.value = "file";
    await load({ kind: "given", reading: {} });
  } else if (about.value.lessons) await open(0);
  else await load({ kind: "generate", wanted: { kind: "and" } });
}

effect(() => {
  document.title = data.value ? `${data.value.name}: Rosenblatt studio` : "Rosenblatt studio";
});
// For measurements from outside.
effect(() => {
  document.documentElement.dataset.frames = String(frames.value);
});
render(<App />, document.getElementById("app")!);
void begin().catch((error) => (connection.value = String(error)));
