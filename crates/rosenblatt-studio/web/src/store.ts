// What the page knows, and how it learns it.
import { batch, computed, signal, type Signal } from "@preact/signals";
import { Refused, ask, post, whenBack } from "./api";
import type {
  About, Checked, Commands, Curve, Data, Detail, Facts, Field, Form, Given, Places, Reading, Recorded, Source, Step,
} from "./types";

/** One of the two settings that can be compared. */
export interface Slot {
  index: number;
  given: Signal<Given>;
  form: Signal<Form | null>;
  commands: Signal<Commands | null>;
  facts: Signal<Facts | null>;
  step: Signal<Step | null>;
  detail: Signal<Detail | null>;
  field: Signal<Field | null>;
  curve: Signal<Curve | null>;
  error: Signal<string>;
  /** Whether the server has a run of it. */
  runs: boolean;
}

const newSlot = (index: number): Slot => ({
  index,
  given: signal({ learner: "perceptron" }),
  form: signal(null),
  commands: signal(null),
  facts: signal(null),
  step: signal(null),
  detail: signal(null),
  field: signal(null),
  curve: signal(null),
  error: signal(""),
  runs: false,
});

export interface View {
  x: number;
  y: number;
  projection: boolean;
}

export interface Rectangle {
  x: [number, number];
  y: [number, number];
}

export const about = signal<About | null>(null);
export const source = signal<Source>({ kind: "points", points: [] });
export const data = signal<Data | null>(null);
export const dataError = signal("");
export const busy = signal("");
export const places = signal<Places | null>(null);
export const view = signal<View>({ x: 0, y: 1, projection: false });
export const slots: [Slot, Slot] = [newSlot(0), newSlot(1)];
export const compare = signal(false);
export const k = signal(0);
export const checked = signal<Checked | null>(null);
export const checkError = signal("");
export const showRegions = signal(true);
export const showReadout = signal(false);
/** The bound from the proved margin, where it was computed beside. */
export const provedBound = signal<number | null>(null);
export const said = signal("");
export const lesson = signal<number | null>(null);

export const recorded: Recorded | null = (() => {
  const element = document.getElementById("replay");
  return element ? (JSON.parse(element.textContent ?? "null") as Recorded) : null;
})();

export const shownSlots = computed(() => (compare.value ? slots : [slots[0]]));
export const length = computed(() => Math.max(0, ...shownSlots.value.map((slot) => slot.facts.value?.length ?? 0)));
export const mixed = computed(() => new Set(shownSlots.value.map((slot) => slot.facts.value?.traced)).size > 1);
export const isOver = computed(() => shownSlots.value.every((slot) => slot.facts.value?.over ?? true));

/** Whether boundaries are no straight lines in the picture, or several meet. */
export const needsField = (slot: Slot): boolean => {
  const facts = slot.facts.value;
  return facts !== null && (!facts.linear || facts.planes.length > 1);
};

/** Where the picture ends, in the units of its axes. */
export const rectangle = computed<Rectangle>(() => {
  const found = places.value?.places ?? [];
  if (source.value.kind === "points" && found.length <= 2) return { x: [-5, 5], y: [-5, 5] };
  let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let i = 0; i < found.length; i += 2) {
    left = Math.min(left, found[i]);
    right = Math.max(right, found[i]);
    low = Math.min(low, found[i + 1]);
    high = Math.max(high, found[i + 1]);
  }
  if (!(left <= right)) return { x: [-5, 5], y: [-5, 5] };
  const around = (a: number, b: number): [number, number] => {
    const margin = b > a ? 0.12 * (b - a) : 1;
    return [a - margin, b + margin];
  };
  if (source.value.kind !== "points") return { x: around(left, right), y: around(low, high) };
  const [x, y] = [around(left, right), around(low, high)];
  const [ax, bx, ay, by] = [Math.min(x[0], -5), Math.max(x[1], 5), Math.min(y[0], -5), Math.max(y[1], 5)];
  return { x: [ax, bx], y: [ay, by] };
});

/** What a picture shows, to its edges. */
export const visible = signal<Rectangle | null>(null);

const shownView = () => ({ x: view.value.x, y: view.value.y, projection: view.value.projection || undefined });
const of = (slot: Slot) => ({ page: data.value?.page, slot: slot.index });

export function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Counts changes, so that answers to older questions are dropped. */
let edition = 0;

async function sendSource(from: Source): Promise<Data> {
  const page = { page: data.value?.page };
  switch (from.kind) {
    case "points":
      return post<Data>("points", page, { points: from.points });
    case "generate":
      return post<Data>("generate", page, from.wanted);
    case "given":
      return post<Data>("given", { ...page, ...from.reading });
    case "file": {
      const body = from.labels ? new Blob([from.file, from.labels]) : from.file;
      const query = { ...page, ...from.reading, name: from.name, labels_at: from.labels ? from.file.size : undefined };
      return post<Data>("file", query, body);
    }
  }
}

/** Takes other data, and runs the learners on them. */
export async function load(from: Source, keep: { k?: number | "end"; view?: boolean } = {}): Promise<void> {
  if (!("reading" in from) || from.reading !== asked?.reading) asked = null;
  const mine = ++edition;
  busy.value = from.kind === "file" ? `Reading ${from.name}…` : "";
  try {
    if (from.kind === "points" && new Set(from.points.map((p) => p[2])).size < 2) {
      batch(() => {
        source.value = from;
        data.value = null;
        dataError.value = "";
        checked.value = null;
        places.value = { places: from.points.flatMap((p) => [p[0], p[1]]), axes: ["x1", "x2"], projected: false };
        slots.forEach(forget);
        k.value = 0;
      });
      return;
    }
    const found = await sendSource(from);
    if (mine !== edition) return;
    batch(() => {
      source.value = from;
      data.value = found;
      dataError.value = "";
      checked.value = null;
      checkError.value = "";
      provedBound.value = null;
      slots.forEach((slot) => (slot.runs = false));
      if (!keep.view || found.features <= 2) view.value = { x: found.axes[0], y: found.axes[1], projection: false };
    });
    await showPlaces(0);
    if (mine !== edition) return;
    await Promise.all(shownSlots.value.map((slot) => start(slot, keep.k ?? 0)));
    void quietBound();
  } catch (error) {
    if (mine === edition) dataError.value = message(error);
  } finally {
    if (mine === edition) busy.value = "";
  }
}

function forget(slot: Slot): void {
  slot.runs = false;
  slot.facts.value = null;
  slot.step.value = null;
  slot.detail.value = null;
  slot.field.value = null;
  slot.curve.value = null;
  slot.commands.value = null;
  slot.error.value = "";
}

export async function showPlaces(at: number): Promise<void> {
  if (!data.value) return;
  const query = { ...of(slots[0]), ...shownView(), k: at };
  places.value = await ask<Places>("points", query);
}

let asked: { from?: string; reading: Reading } | null = null;

/** Changes how the file is read. */
export async function readAgain(reading: { label?: string; positive?: string; scale?: string }): Promise<void> {
  const from = source.value;
  // What was asked a moment ago counts, though it may not be answered yet.
  const before = asked?.from === data.value?.name ? asked?.reading : data.value?.reading;
  const whole = { ...before, ...reading };
  asked = { from: data.value?.name, reading: whole };
  if (from.kind === "file" || from.kind === "given") return load({ ...from, reading: whole });
  try {
    const found = await post<Data>("read", { page: data.value?.page, ...whole });
    data.value = found;
    dataError.value = "";
    checked.value = null;
    await showPlaces(0);
    await Promise.all(shownSlots.value.map((slot) => start(slot, 0)));
  } catch (error) {
    dataError.value = message(error);
  }
}

/** Begins a run with the options of a slot. */
export async function start(slot: Slot, at: number | "end" = 0): Promise<void> {
  try {
    slot.form.value = await post<Form>("options", {}, { options: slot.given.value });
    if (!data.value) return;
    if (slot.form.value.wrong) {
      slot.error.value = slot.form.value.wrong;
      return;
    }
    const { commands } = await post<{ commands: Commands }>("run", of(slot), { options: slot.given.value });
    batch(() => {
      slot.runs = true;
      slot.error.value = "";
      slot.commands.value = commands;
      slot.detail.value = null;
      slot.field.value = null;
    });
    await follow(slot, at);
  } catch (error) {
    if (error instanceof Refused && error.unknown) return restore();
    batch(() => {
      forget(slot);
      slot.error.value = message(error);
    });
  }
}

/** Learns of a run until it is over; goes to a visit as soon as there is one. */
async function follow(slot: Slot, at: number | "end"): Promise<void> {
  const mine = edition;
  for (let round = 0; mine === edition; round++) {
    const facts = await ask<Facts | null>("facts", of(slot));
    if (mine !== edition || !facts) return;
    slot.facts.value = facts;
    if (round === 0 || (at === "end" && facts.over)) {
      await goto(at === "end" ? facts.length : at);
    }
    if (facts.over) break;
    await new Promise((resolve) => setTimeout(resolve, Math.min(100 + 50 * round, 1000)));
  }
  if (mine !== edition || !slot.runs) return;
  slot.curve.value = await ask<Curve | null>("curve", of(slot));
  await refresh();
}

/** The last visit of a slot that the page can show for a place of the scrubber. */
export const within = (slot: Slot, at: number): number => {
  const own = slot.facts.value?.length ?? 0;
  // Visits beside passes have a place in the run in common, not a number.
  return mixed.value && length.value > 0 ? Math.round((at / length.value) * own) : Math.min(at, own);
};

/** Goes to a visit. */
export async function goto(at: number): Promise<void> {
  const target = Math.max(0, Math.min(at, length.value));
  try {
    const found = await Promise.all(shownSlots.value.map((slot) => fetchSteps(slot, within(slot, target), 1, 1)));
    batch(() => {
      k.value = target;
      shownSlots.value.forEach((slot, i) => (slot.step.value = found[i][0] ?? slot.step.value));
    });
    await refresh();
  } catch (error) {
    if (error instanceof Refused && error.unknown) await restore();
  }
}

export async function fetchSteps(slot: Slot, from: number, count: number, stride: number): Promise<Step[]> {
  if (recorded) {
    const all: Step[] = [];
    for (let i = 0; i < count && from + i * stride <= length.value; i++) all.push(recordedAt(recorded, from + i * stride));
    return all;
  }
  if (!slot.facts.value || !slot.runs) return [];
  const query = { ...of(slot), ...shownView(), from, count, stride };
  return (await ask<{ steps: Step[] } | null>("steps", query))?.steps ?? [];
}

function recordedAt(run: Recorded, at: number): Step {
  let [low, high] = [0, run.held.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (run.held[middle] <= at) low = middle;
    else high = middle - 1;
  }
  return run.steps[low];
}

const nearest = <T extends { k: number }>(all: T[], at: number): T | null =>
  all.reduce<T | null>((best, one) => (best && Math.abs(best.k - at) <= Math.abs(one.k - at) ? best : one), null);

/** Whether visits go by, so that what stands beside them must be quick. */
export const moving = signal(false);

let refreshing = false;
let again = false;

/** Fetches what stands beside the picture; one question at a time, the latest last. */
export async function refresh(): Promise<void> {
  if (refreshing) {
    again = true;
    return;
  }
  refreshing = true;
  try {
    do {
      again = false;
      await Promise.all(shownSlots.value.map(fetchBeside));
      if (view.value.projection && slots[0].runs) await showPlaces(k.value);
    } while (again);
  } catch (error) {
    if (error instanceof Refused && error.unknown) void restore();
  } finally {
    refreshing = false;
  }
}

async function fetchBeside(slot: Slot): Promise<void> {
  const still = !moving.value;
  const facts = slot.facts.value;
  if (!facts || !(slot.runs || recorded)) return;
  const at = within(slot, k.value);
  if (!facts.traced && at === 0) {
    slot.detail.value = null;
    slot.field.value = null;
    return;
  }
  if (recorded) {
    slot.detail.value = nearest(recorded.details, at);
    slot.field.value = nearest(recorded.fields, at);
    return;
  }
  const query = { ...of(slot), ...shownView(), k: at };
  const wantsField = (needsField(slot) || showReadout.value) && showRegions.value && !view.value.projection;
  const over = visible.value ?? rectangle.value;
  const area = { left: over.x[0], right: over.x[1], low: over.y[0], high: over.y[1], size: still ? 96 : 48 };
  const [detail, field] = await Promise.all([
    ask<Detail | null>("detail", query),
    wantsField ? ask<Field | null>("field", { ...query, ...area, readout: showReadout.value || undefined }) : null,
  ]);
  batch(() => {
    slot.detail.value = detail;
    slot.field.value = field;
  });
}

/** Goes to the next (or last) update, pass or end. */
export async function seek(to: string): Promise<void> {
  if (recorded) {
    const ahead = recorded.steps.find((s) => s.k > k.value && (to === "pass" ? s.pass > pass() : s.correct === false));
    const behind = recorded.steps.findLast((s) => s.k < k.value && s.correct === false);
    const found = to === "begin" ? 0 : to === "update-back" ? (behind?.k ?? 0) : to === "end" ? length.value : (ahead?.k ?? length.value);
    return goto(found);
  }
  const slot = shownSlots.value[0];
  if (!slot.facts.value || !slot.runs) return;
  try {
    const found = await ask<{ k: number } | null>("seek", { ...of(slot), from: k.value, to });
    await goto(to === "end" || !found ? length.value : found.k);
  } catch (error) {
    if (error instanceof Refused && error.unknown) await restore();
  }
}

const pass = () => slots[0].step.value?.pass ?? 0;

/** Sends everything again to a server that has forgotten it. */
let restoring = false;
export async function restore(): Promise<void> {
  if (restoring || recorded) return;
  restoring = true;
  const at = k.value;
  try {
    if (data.value || source.value.kind !== "points") await load(source.value, { k: at, view: true });
  } finally {
    restoring = false;
  }
}
whenBack(() => void restore());

/** Whether the classes can be separated. */
export async function check(): Promise<void> {
  if (!data.value) return;
  checkError.value = "";
  busy.value = "Deciding in exact arithmetic…";
  const page = data.value.page;
  try {
    const found = await post<Checked>("check", { page });
    if (data.value?.page === page) {
      checked.value = found;
      provedBound.value = found.updates_at_most;
    }
  } catch (error) {
    checkError.value = message(error);
  } finally {
    busy.value = "";
  }
}

/** The bound from the widest margin, where it costs little. */
async function quietBound(): Promise<void> {
  const found = data.value;
  if (!found || found.rows > 400 || found.features > 10) return;
  try {
    const answer = await post<Checked>("check", { page: found.page });
    if (data.value === found) provedBound.value = answer.updates_at_most;
  } catch {
    provedBound.value = null;
  }
}

/** Changes options of a slot and runs it again. */
export async function choose(slot: Slot, name: string, value: string): Promise<void> {
  const parameter = slot.form.value?.parameters.find((p) => p.name === name);
  const next = { ...slot.given.value };
  if (name === "learner") {
    // What the other learner does not know is dropped.
    const known = await post<Form>("options", {}, { options: { learner: value } });
    const names = new Set(known.parameters.map((p) => p.name));
    for (const own of Object.keys(next)) if (!names.has(own)) delete next[own];
    next.learner = value;
  } else if (parameter && (value === parameter.default || value === "")) delete next[name];
  else next[name] = value;
  slot.given.value = next;
  await start(slot, k.value === length.value && k.value > 0 ? "end" : 0);
}

export async function setCompare(on: boolean): Promise<void> {
  compare.value = on;
  if (on) {
    if (Object.keys(slots[1].given.value).length <= 1) slots[1].given.value = { ...slots[0].given.value };
    await start(slots[1], k.value);
  } else await goto(Math.min(k.value, length.value));
}
