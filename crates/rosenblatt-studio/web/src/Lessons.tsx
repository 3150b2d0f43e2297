// The lessons: a page of text beside the live picture.
import { useEffect, useRef } from "preact/hooks";
import { SCENES, type Setup } from "./scenes";
import { check, compare, k, length, lesson, load, seek, showReadout, slots, source, start, checked, shownSlots } from "./store";

async function setUp(setup: Setup): Promise<void> {
  showReadout.value = setup.readout ?? false;
  if (setup.given) slots[0].given.value = { ...setup.given };
  if (setup.given || setup.beside !== undefined) {
    compare.value = Boolean(setup.beside);
    if (setup.beside) slots[1].given.value = { ...setup.beside };
  }
  const at = setup.at === "end" ? "end" : 0;
  if (setup.data) await load({ kind: "generate", wanted: setup.data }, { k: at });
  else if (setup.given) await Promise.all(shownSlots.value.map((slot) => start(slot, at)));
  else if (setup.at) await seek(setup.at);
  if (setup.data || setup.given) await whenOver(at === "end");
  if (setup.ask) await check();
}

/** A run that has just begun may not be at its end yet. */
async function whenOver(end: boolean): Promise<void> {
  if (end && k.value < length.value) await seek("end");
}

export async function open(i: number): Promise<void> {
  lesson.value = i;
  checked.value = null;
  await setUp(SCENES[i].setup);
}

export function close(): void {
  lesson.value = null;
  if (source.value.kind === "generate") compare.value = false;
}

export function Lesson() {
  const i = lesson.value!;
  const scene = SCENES[i];
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [i]);
  return (
    <section class="lesson" aria-labelledby="lesson-heading">
      <label class="row">
        <span>Lesson</span>
        <select value={i} onChange={(e) => void open(Number(e.currentTarget.value))}>
          {SCENES.map((one, n) => <option value={n}>{n + 1}. {one.title}</option>)}
        </select>
      </label>
      <h2 id="lesson-heading" ref={heading} tabIndex={-1}>{i + 1}. {scene.title}</h2>
      {scene.text.map((paragraph) => <p>{paragraph}</p>)}
      <h3>Try</h3>
      <div class="tries">
        {scene.tries.map(([name, setup]) => <button type="button" onClick={() => void setUp(setup)}>{name}</button>)}
      </div>
      <nav class="turn" aria-label="Lessons">
        <button type="button" disabled={i === 0} onClick={() => void open(i - 1)}>‹ Before</button>
        <span>{i + 1} of {SCENES.length}</span>
        {i + 1 < SCENES.length
          ? <button type="button" class="main" onClick={() => void open(i + 1)}>Next ›</button>
          : <button type="button" class="main" onClick={close}>Explore</button>}
      </nav>
    </section>
  );
}
