// Play, pause, one visit, one update, one pass, to the end; speed; a scrubber both ways.
import { batch, signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { count } from "./format";
import { fetchSteps, goto, isOver, k, length, mixed, moving, recorded, refresh, restore, seek, shownSlots, slots, within, type Slot } from "./store";
import { Refused } from "./api";
import type { Step } from "./types";

export const playing = signal(false);
export const speed = signal(4);
export const SPEEDS = [1, 2, 4, 10, 30, 60, 200, 1000, 10_000, 100_000];
/** Frames drawn in the last second of play, for measurements. */
export const frames = signal(0);

/** Frames a second at most; beyond, visits are passed over. */
const MOST_FRAMES = 60;
const AHEAD = 90;

/** The next steps of a slot, by the places of the scrubber. */
async function ahead(slot: Slot, next: number, stride: number): Promise<Step[]> {
  if (!mixed.value) return fetchSteps(slot, next, AHEAD, stride);
  const places = Array.from({ length: AHEAD }, (_, i) => next + i * stride).filter((at) => at <= length.value);
  const wanted = places.map((at) => within(slot, at));
  if (!wanted.length) return [];
  const found = await fetchSteps(slot, wanted[0], wanted.at(-1)! - wanted[0] + 1, 1);
  return wanted.map((at) => found.find((s) => s.k === at) ?? found.at(-1)).filter((s) => s !== undefined);
}

/** Plays from here: asks for visits ahead, and waits where they are not there yet. */
export async function play(): Promise<void> {
  if (playing.value) return;
  if (k.value >= length.value && isOver.value) await goto(0);
  playing.value = moving.value = true;
  let [from, stride] = [k.value, 1];
  let buffers: Step[][] = [[], []];
  let [asking, failed] = [false, 0];
  let began = performance.now();
  let shown = 0;
  let rate = 0;
  const restart = (now: number) => {
    [from, shown, began, buffers] = [k.value, 0, now, [[], []]];
    rate = speed.value;
    stride = Math.max(1, Math.round(rate / MOST_FRAMES));
  };
  restart(began);
  const have = () => Math.min(...shownSlots.value.map((slot) => buffers[slot.index].length));
  const ask = async () => {
    asking = true;
    const next = from + (have() + 1) * stride;
    const mine = buffers;
    try {
      const found = await Promise.all(shownSlots.value.map((slot) => ahead(slot, next, stride)));
      if (mine === buffers) {
        const longest = Math.max(...found.map((f) => f.length));
        shownSlots.value.forEach((slot, i) => {
          const last = slot.step.value;
          while (found[i].length < longest && last) found[i].push(found[i].at(-1) ?? buffers[slot.index].at(-1) ?? last);
          buffers[slot.index].push(...found[i]);
        });
      }
      failed = 0;
    } catch (error) {
      failed = performance.now();
      if (error instanceof Refused && error.unknown) await restore();
    }
    asking = false;
  };
  let [second, drawn] = [began, 0];
  const tick = (now: number) => {
    if (!playing.value) return;
    if (rate !== speed.value) restart(now);
    const due = Math.floor(((now - began) * Math.min(rate, MOST_FRAMES)) / 1000);
    const next = Math.min(due, have());
    if (next > shown) {
      shown = next;
      const at = Math.min(from + shown * stride, length.value);
      batch(() => {
        k.value = at;
        for (const slot of shownSlots.value) slot.step.value = buffers[slot.index][shown - 1];
      });
      drawn++;
      void refresh();
    }
    // Behind: wait here rather than jump.
    if (due > shown + 1) began = now - (shown * 1000) / Math.min(rate, MOST_FRAMES);
    if (now - second >= 1000) [frames.value, drawn, second] = [Math.round((drawn * 1000) / (now - second)), 0, now];
    const left = from + have() * stride < length.value;
    if (!asking && left && have() - shown < AHEAD / 2 && now - failed > 500) void ask();
    if (!left && shown >= have() && isOver.value && !asking) {
      stop();
      void goto(length.value);
      return;
    }
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

function stop(): void {
  playing.value = moving.value = false;
}

export function pause(): void {
  stop();
  void goto(k.value);
}

const go = (f: () => unknown) => () => {
  stop();
  void f();
};

export function Player() {
  const wanted = useRef<number | null>(null);
  const under = useRef(false);
  const facts = slots[0].facts.value;
  const traced = facts?.traced ?? true;
  const unit = mixed.value ? "step" : traced ? "visit" : "pass";
  const off = length.value === 0;
  // One question at a time, the latest place last.
  const scrub = async (to: number) => {
    stop();
    wanted.current = to;
    if (under.current) return;
    under.current = true;
    while (wanted.current !== null) {
      const next = wanted.current;
      wanted.current = null;
      await goto(next);
    }
    under.current = false;
  };
  const keys = (event: KeyboardEvent) => {
    if ((event.target as HTMLElement).tagName === "SELECT" || (event.target as HTMLElement).tagName === "INPUT") return;
    const known: Record<string, () => unknown> = {
      ".": () => goto(k.value + 1), ",": () => goto(k.value - 1),
      u: () => seek("update"), e: () => seek("end"), b: () => seek("begin"),
    };
    const f = known[event.key];
    if (f) {
      event.preventDefault();
      go(f)();
    }
  };
  return (
    <section class="player" aria-label="Player" onKeyDown={keys}>
      <div class="buttons" role="group" aria-label="Steps">
        <button type="button" disabled={off || k.value === 0} onClick={go(() => seek("begin"))} aria-label="To the beginning" title="To the beginning">|«</button>
        {traced && <button type="button" disabled={off || k.value === 0} onClick={go(() => seek("update-back"))} aria-label="Back to the update before" title="Back to the update before">« update</button>}
        <button type="button" disabled={off || k.value === 0} onClick={go(() => goto(k.value - 1))} aria-label={`Back one ${unit}`} title={`Back one ${unit}`}>‹ {unit}</button>
        <button type="button" class="main" disabled={off} id="play" onClick={() => (playing.value ? pause() : void play())}>
          {playing.value ? "Pause" : "▶ Play"}
        </button>
        <button type="button" disabled={off} onClick={go(() => goto(k.value + 1))} aria-label={`One ${unit}`} title={`One ${unit}`}>{unit} ›</button>
        {traced && <button type="button" disabled={off} onClick={go(() => seek("update"))} aria-label="To the next update" title="To the next update">update »</button>}
        {traced && <button type="button" disabled={off} onClick={go(() => seek("pass"))} aria-label="To the end of the pass" title="To the end of the pass">pass »</button>}
        <button type="button" disabled={off} onClick={go(() => seek("end"))} aria-label="To the end" title="To the end">»|</button>
      </div>
      <div class="scrubber">
        <label>
          <span class="hidden">{unit}, of {length.value}</span>
          <input
            type="range"
            id="scrubber"
            min={0}
            max={length.value}
            value={k.value}
            disabled={off}
            aria-valuetext={`${unit} ${k.value} of ${length.value}`}
            onInput={(event) => void scrub(Number(event.currentTarget.value))}
          />
        </label>
        <output class="where">
          {unit} <b>{count(k.value)}</b> of {count(length.value)}
          {isOver.value || recorded ? "" : " …"}
        </output>
        <label class="speed">
          Speed
          <select value={speed.value} onChange={(event) => (speed.value = Number(event.currentTarget.value))}>
            {SPEEDS.map((s) => <option value={s}>{count(s)} / s</option>)}
          </select>
        </label>
      </div>
      {shownSlots.value.length > 1 && (
        <p class="note">{shownSlots.value.map((s) => `Setting ${s.index + 1}: ${s.facts.value?.traced ? "visit" : "pass"} ${count(within(s, k.value))} of ${count(s.facts.value?.length)}`).join(". ")}.</p>
      )}
    </section>
  );
}
