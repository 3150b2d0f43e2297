// Points that somebody sets: add, move, delete, undo.
import { computed, signal } from "@preact/signals";
import { data, k, length, load, places, source } from "./store";
import type { Point } from "./types";

/** The class that new points get. */
export const pen = signal(0);
/** What a click does. */
export const tool = signal<"look" | "edit">("edit");

export const points = computed<Point[]>(() => (source.value.kind === "points" ? source.value.points : []));

const past: Point[][] = [];
const undone = signal(0);
export const canUndo = computed(() => undone.value >= 0 && past.length > 0);

/** Whether the data can be edited as points: they are, or are few enough in two features. */
export const editable = computed(() => {
  if (source.value.kind === "points") return true;
  const found = data.value;
  return found !== null && found.features === 2 && found.rows <= 2000 && found.classes.length <= 6;
});

const round = (x: number) => Math.round(x * 100) / 100;

function now(): Point[] {
  if (source.value.kind === "points") return source.value.points;
  const found = places.value?.places ?? [];
  return (data.value?.labels ?? []).map((label, i) => [round(found[2 * i]), round(found[2 * i + 1]), label]);
}

async function put(next: Point[]): Promise<void> {
  undone.value++;
  // Whoever watches the end goes on watching it.
  const end = k.value > 0 && k.value === length.value;
  // At once, so that the next change builds on it.
  source.value = { kind: "points", points: next };
  places.value = { places: next.flatMap((p) => [p[0], p[1]]), axes: ["x1", "x2"], projected: false };
  await load({ kind: "points", points: next }, { k: end ? "end" : 0, view: true });
}

function change(next: Point[]): Promise<void> {
  past.push(now());
  if (past.length > 200) past.shift();
  return put(next);
}

export const add = (x: number, y: number): Promise<void> => change([...now(), [round(x), round(y), pen.value]]);
export const move = (i: number, x: number, y: number): Promise<void> =>
  change(now().map((p, j) => (i === j ? [round(x), round(y), p[2]] : p)));
export const remove = (i: number): Promise<void> => change(now().filter((_, j) => i !== j));
export const clear = (): Promise<void> => change([]);

export async function undo(): Promise<void> {
  const before = past.pop();
  if (before) await put(before);
}

/** The point nearest to a place, within a distance in pixels. */
export function nearest(px: number, py: number, toX: (x: number) => number, toY: (y: number) => number, most: number): number | null {
  const found = places.value?.places ?? [];
  let [best, least] = [null as number | null, most];
  for (let i = 0; i < found.length; i += 2) {
    const distance = Math.hypot(toX(found[i]) - px, toY(found[i + 1]) - py);
    if (distance < least) [best, least] = [i / 2, distance];
  }
  return best;
}
