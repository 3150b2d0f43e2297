// The picture of one slot: pointer and keyboard set points, a status line says what is seen.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Frame, type Scene, drawAll, drawStill, frame } from "./draw";
import { counted, line, short } from "./format";
import { add, editable, move, nearest, pen, points, remove, tool, undo } from "./points";
import {
  type Slot, checked, compare, data, lesson, needsField, places, recorded, rectangle, said, showReadout, showRegions,
  source, visible, refresh, type Rectangle,
} from "./store";
import { projector, theme } from "./theme";

const cursor = signal<[number, number] | null>(null);
const carried = signal<number | null>(null);

function labels(): number[] {
  return source.value.kind === "points" && !recorded ? points.value.map((p) => rank(p[2])) : (data.value?.labels ?? []);
}

/** The number of a class among those that have points. */
function rank(label: number): number {
  const there = [...new Set(points.value.map((p) => p[2]))].sort();
  return there.length < 2 ? label : there.indexOf(label);
}

function sceneOf(slot: Slot): Scene {
  const facts = slot.facts.value;
  const field = showRegions.value && (needsField(slot) || showReadout.value) ? slot.field.value : null;
  return {
    area: rectangle.value,
    places: places.value,
    labels: labels(),
    rows: data.value?.drawn ?? points.value.map((_, i) => i),
    step: slot.step.value,
    field,
    readout: showReadout.value ? (slot.detail.value?.read_out?.lines ?? null) : null,
    planes: facts?.planes.length ?? 1,
    jointly: facts?.jointly ?? false,
    checked: checked.value,
    cursor: cursor.value,
    held: carried.value,
    large: projector.value,
  };
}

/** What the picture shows has changed: the field is asked for again. */
function see(to: Frame, width: number, height: number): void {
  const now = { x: [to.fromX(0), to.fromX(width)], y: [to.fromY(height), to.fromY(0)] } as Rectangle;
  const before = visible.value;
  if (before && before.x.every((x, i) => x === now.x[i]) && before.y.every((y, i) => y === now.y[i])) return;
  visible.value = now;
  if (before && !recorded) void refresh();
}

/** The picture in words. */
export function inWords(slot: Slot): string {
  const [step, facts, found] = [slot.step.value, slot.facts.value, data.value];
  if (!found) return points.value.length ? `${counted(points.value.length, "point")} of one class; set one of another.` : "No points yet.";
  if (!facts || !step) return `${counted(found.rows, "row")} in ${found.classes.length} classes.`;
  const parts: string[] = [];
  if (step.k === 0) parts.push(facts.traced ? "Before the first visit." : "Before the first pass.");
  else if (facts.traced) {
    const verdict = step.correct ? "no update" : step.mistake ? "a mistake, update" : "within the margin demanded, update";
    parts.push(`Visit ${step.k}, pass ${step.pass}: row ${step.row} of class ${step.class}, ${verdict}.`);
  } else parts.push(`After pass ${step.pass}.`);
  const axes = places.value?.axes ?? ["x1", "x2"];
  if (step.lines?.length === 1 && !places.value?.projected) parts.push(`Boundary ${line(step.lines[0], axes)}.`);
  if (facts.traced) parts.push(`${counted(step.mistakes, "mistake")}, ${counted(step.updates, "update")} so far.`);
  const detail = slot.detail.value;
  if (detail && detail.k === step.k) parts.push(`Accuracy ${short(100 * detail.accuracy, 3)} %.`);
  if (facts.over && step.k === facts.length && facts.reason) parts.push(`The run ended: ${facts.reason}.`);
  if (checked.value) parts.push(`Verdict: ${checked.value.verdict}.`);
  return parts.join(" ");
}

export function Picture({ slot }: { slot: Slot }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const still = useRef<{ key: unknown[]; canvas: HTMLCanvasElement } | null>(null);
  const to = useRef<Frame | null>(null);
  const dragged = useRef<{ point: number; x: number; y: number; moved: boolean } | null>(null);
  const [size, setSize] = useState({ width: 600, height: 450 });
  const scene = sceneOf(slot);
  void theme.value;

  useEffect(() => {
    const element = canvas.current!;
    const watch = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width && height) setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);

  useEffect(() => {
    const element = canvas.current!;
    const dense = Math.min(devicePixelRatio || 1, 2);
    const { width, height } = size;
    const [w, h] = [Math.round(width * dense), Math.round(height * dense)];
    if (element.width !== w || element.height !== h) Object.assign(element, { width: w, height: h });
    to.current = frame(scene.area, width, height);
    if (slot.index === 0) see(to.current, width, height);
    const key = [scene.places, scene.labels.join(), scene.area, w, h, scene.large, document.documentElement.dataset.theme];
    if (!still.current || still.current.key.some((part, i) => part !== key[i])) {
      const layer = still.current?.canvas ?? document.createElement("canvas");
      Object.assign(layer, { width: w, height: h });
      const g = layer.getContext("2d")!;
      g.scale(dense, dense);
      drawStill(g, scene, to.current, width, height);
      still.current = { key, canvas: layer };
    }
    const g = element.getContext("2d")!;
    g.setTransform(dense, 0, 0, dense, 0, 0);
    drawAll(g, still.current.canvas, scene, to.current, width, height);
  });

  const editing = editable.value && tool.value === "edit" && !recorded;
  const at = (event: PointerEvent): [number, number] => {
    const box = canvas.current!.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const near = (px: number, py: number) => nearest(px, py, to.current!.toX, to.current!.toY, 14);
  const down = (event: PointerEvent) => {
    if (!editing || event.button > 0) return;
    const [x, y] = at(event);
    dragged.current = { point: near(x, y) ?? -1, x, y, moved: false };
    canvas.current!.setPointerCapture(event.pointerId);
  };
  const drag = (event: PointerEvent) => {
    const now = dragged.current;
    if (!now) return;
    const [x, y] = at(event);
    now.moved ||= Math.hypot(x - now.x, y - now.y) > 4;
    if (now.moved && now.point >= 0) cursor.value = [to.current!.fromX(x), to.current!.fromY(y)];
  };
  const up = (event: PointerEvent) => {
    const now = dragged.current;
    dragged.current = null;
    if (!now) return;
    cursor.value = null;
    const [x, y] = at(event);
    const [u, v] = [to.current!.fromX(x), to.current!.fromY(y)];
    if (now.point < 0) void add(u, v);
    else if (now.moved) void move(now.point, u, v);
    else if (event.shiftKey || event.altKey) void remove(now.point);
    else said.value = `Point ${now.point + 1}. Drag to move, Shift-click to delete.`;
  };
  const context = (event: Event) => {
    if (!editing) return;
    event.preventDefault();
    const found = near(...at(event as PointerEvent));
    if (found !== null) void remove(found);
  };

  const key = (event: KeyboardEvent) => {
    if (!editing || !to.current) return;
    const step = event.shiftKey ? 4 : 16;
    const [x, y] = cursor.value ?? [(scene.area.x[0] + scene.area.x[1]) / 2, (scene.area.y[0] + scene.area.y[1]) / 2];
    const [px, py] = [to.current.toX(x), to.current.toY(y)];
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step],
    };
    const by = moves[event.key];
    const taken = () => event.preventDefault();
    if (by) {
      taken();
      const clamp = (v: number, most: number) => Math.max(36, Math.min(most - 8, v));
      cursor.value = [
        to.current.fromX(clamp(px + by[0], size.width)),
        to.current.fromY(Math.min(size.height - 30, Math.max(8, py + by[1]))),
      ];
      said.value = `${short(cursor.value[0], 3)}, ${short(cursor.value[1], 3)}`;
    } else if (event.key === "Enter" || event.key === " ") {
      taken();
      cursor.value = [x, y];
      if (carried.value !== null) {
        void move(carried.value, x, y);
        carried.value = null;
        said.value = "Point put down.";
      } else void add(x, y).then(() => (said.value = `Point of class ${"ABCDEF"[pen.value]} at ${short(x, 3)}, ${short(y, 3)}.`));
    } else if (event.key === "Delete" || event.key === "Backspace") {
      taken();
      const found = nearest(px, py, to.current.toX, to.current.toY, 40);
      if (found !== null) void remove(found).then(() => (said.value = "Point deleted."));
    } else if (event.key === "m" || event.key === "M") {
      taken();
      carried.value = nearest(px, py, to.current.toX, to.current.toY, 40);
      said.value = carried.value === null ? "No point near." : `Point ${carried.value + 1} picked up: arrows move, Enter puts down.`;
    } else if (/^[1-6]$/.test(event.key)) {
      taken();
      pen.value = Number(event.key) - 1;
      said.value = `Class ${"ABCDEF"[pen.value]}.`;
    } else if ((event.key === "z" && (event.ctrlKey || event.metaKey)) || event.key === "u") {
      taken();
      void undo().then(() => (said.value = "Undone."));
    }
  };

  const name = compare.value ? `Picture of setting ${slot.index + 1}` : "Picture";
  const help = editing
    ? "Arrow keys move a cross, Enter sets a point, 1 to 6 choose its class, M moves the nearest point, Delete deletes it, U takes back."
    : "";
  return (
    <div class="picture" data-lesson={lesson.value ?? undefined}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-roledescription="picture"
        aria-label={`${name}. ${inWords(slot)} ${help}`}
        class={editing ? "editing" : ""}
        onPointerDown={down}
        onPointerMove={drag}
        onPointerUp={up}
        onContextMenu={context}
        onKeyDown={key}
        onBlur={() => (cursor.value = null)}
      />
    </div>
  );
}
