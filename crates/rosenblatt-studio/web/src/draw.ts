// The picture: points, boundary before and after, weight vector and its change, regions.
import type { Checked, Field, Line, Places, Step } from "./types";
import type { Rectangle } from "./store";
import { colour, ink, shape } from "./theme";

export interface Scene {
  area: Rectangle;
  places: Places | null;
  labels: number[];
  rows: number[];
  step: Step | null;
  field: Field | null;
  readout: Line[] | null;
  planes: number;
  jointly: boolean;
  checked: Checked | null;
  cursor: [number, number] | null;
  held: number | null;
  large: boolean;
}

export interface Frame {
  toX(x: number): number;
  toY(y: number): number;
  fromX(px: number): number;
  fromY(py: number): number;
}

/** How places become pixels; both axes to one scale where they are nearly so already. */
export function frame(area: Rectangle, width: number, height: number): Frame {
  const pad = 34;
  let sx = (width - 1.4 * pad) / (area.x[1] - area.x[0]);
  let sy = (height - 1.4 * pad) / (area.y[1] - area.y[0]);
  const ratio = sx / sy;
  if (ratio > 0.25 && ratio < 4) sx = sy = Math.min(sx, sy);
  const cx = (area.x[0] + area.x[1]) / 2;
  const cy = (area.y[0] + area.y[1]) / 2;
  const [mx, my] = [width / 2 + 0.15 * pad, height / 2 - 0.15 * pad];
  return {
    toX: (x) => mx + (x - cx) * sx,
    toY: (y) => my - (y - cy) * sy,
    fromX: (px) => cx + (px - mx) / sx,
    fromY: (py) => cy - (py - my) / sy,
  };
}

export function mark(g: CanvasRenderingContext2D, label: number, x: number, y: number, r: number): void {
  g.beginPath();
  switch (shape(label)) {
    case "circle":
      g.arc(x, y, r, 0, 7);
      break;
    case "square":
      g.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
      break;
    case "triangle":
      g.moveTo(x, y - 1.2 * r);
      g.lineTo(x + 1.1 * r, y + 0.8 * r);
      g.lineTo(x - 1.1 * r, y + 0.8 * r);
      g.closePath();
      break;
    case "diamond":
      g.moveTo(x, y - 1.25 * r);
      g.lineTo(x + 1.1 * r, y);
      g.lineTo(x, y + 1.25 * r);
      g.lineTo(x - 1.1 * r, y);
      g.closePath();
      break;
    case "cross":
      g.rect(x - 0.35 * r, y - 1.1 * r, 0.7 * r, 2.2 * r);
      g.rect(x - 1.1 * r, y - 0.35 * r, 2.2 * r, 0.7 * r);
      break;
    default:
      for (let i = 0; i < 10; i++) {
        const [a, s] = [(i * Math.PI) / 5 - Math.PI / 2, i % 2 ? 0.5 * r : 1.25 * r];
        g.lineTo(x + s * Math.cos(a), y + s * Math.sin(a));
      }
      g.closePath();
  }
}

/** The size of a point, smaller where they are many. */
export function size(points: number, large: boolean): number {
  return (points > 3000 ? 1.8 : points > 800 ? 2.6 : points > 200 ? 4 : 6) * (large ? 1.5 : 1);
}

/** What stays from visit to visit: axes and points. */
export function drawStill(g: CanvasRenderingContext2D, scene: Scene, to: Frame, width: number, height: number): void {
  drawAxes(g, scene, to, width, height);
  const found = scene.places?.places ?? [];
  const r = size(found.length / 2, scene.large);
  const paper = ink().paper;
  for (let i = 0; i < found.length; i += 2) {
    const label = scene.labels[i / 2] ?? 0;
    g.fillStyle = colour(label);
    mark(g, label, to.toX(found[i]), to.toY(found[i + 1]), r);
    g.fill();
    if (r > 3) {
      g.strokeStyle = paper;
      g.lineWidth = 1;
      g.stroke();
    }
  }
}

function ticks(low: number, high: number, most: number): number[] {
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const all: number[] = [];
  for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) all.push(Math.abs(t) < step / 1e6 ? 0 : t);
  return all;
}

function drawAxes(g: CanvasRenderingContext2D, scene: Scene, to: Frame, width: number, height: number): void {
  const { faint, grey } = ink();
  const font = scene.large ? 18 : 12;
  g.font = `${font}px system-ui, sans-serif`;
  g.fillStyle = grey;
  g.strokeStyle = faint;
  g.lineWidth = 1;
  const text = (x: number) => String(Number(x.toPrecision(6))).replace("-", "−");
  g.textAlign = "center";
  for (const x of ticks(to.fromX(30), to.fromX(width - 8), width / (7 * font))) {
    const px = Math.round(to.toX(x)) + 0.5;
    g.globalAlpha = x === 0 ? 1 : 0.45;
    g.beginPath();
    g.moveTo(px, 4);
    g.lineTo(px, height - 2.2 * font);
    g.stroke();
    g.globalAlpha = 1;
    g.fillText(text(x), px, height - 1.25 * font);
  }
  g.textAlign = "right";
  for (const y of ticks(to.fromY(height - 2.4 * font), to.fromY(8), height / (5 * font))) {
    const py = Math.round(to.toY(y)) + 0.5;
    g.globalAlpha = y === 0 ? 1 : 0.45;
    g.beginPath();
    g.moveTo(2.9 * font, py);
    g.lineTo(width - 4, py);
    g.stroke();
    g.globalAlpha = 1;
    g.fillText(text(y), 2.7 * font, py + 0.35 * font);
  }
  g.textAlign = "right";
  g.fillText(scene.places?.axes[0] ?? "x1", width - 6, height - 0.2 * font);
  g.textAlign = "left";
  g.fillText(scene.places?.axes[1] ?? "x2", 4, font);
}

/** The field as a small picture, kept while it is the same. */
const painted = new WeakMap<Field, { theme: string; canvas: HTMLCanvasElement }>();

function paint(field: Field): HTMLCanvasElement {
  const theme = document.documentElement.dataset.theme ?? "";
  const known = painted.get(field);
  if (known?.theme === theme) return known.canvas;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = field.n;
  const g = canvas.getContext("2d")!;
  const image = g.createImageData(field.n, field.n);
  const channels = (text: string) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const palette = Array.from({ length: Math.max(...field.classes) + 1 }, (_, label) => channels(colour(label)));
  for (let row = 0; row < field.n; row++) {
    for (let column = 0; column < field.n; column++) {
      const from = row * field.n + column;
      const to = 4 * ((field.n - 1 - row) * field.n + column);
      const [red, green, blue] = palette[field.classes[from]];
      image.data.set([red, green, blue, 30 + 0.75 * field.lead[from]], to);
    }
  }
  g.putImageData(image, 0, 0);
  painted.set(field, { theme, canvas });
  return canvas;
}

export function drawField(g: CanvasRenderingContext2D, field: Field, to: Frame): void {
  const [x, y] = [to.toX(field.x[0]), to.toY(field.y[1])];
  g.imageSmoothingEnabled = false;
  g.drawImage(paint(field), x, y, to.toX(field.x[1]) - x, to.toY(field.y[0]) - y);
  g.imageSmoothingEnabled = true;
}

/** Tints the two sides of one line. */
function drawSides(g: CanvasRenderingContext2D, [a, b, c]: Line, to: Frame, width: number, height: number): void {
  const corners: [number, number][] = [[0, 0], [width, 0], [width, height], [0, height]];
  const value = ([px, py]: [number, number]) => a * to.fromX(px) + b * to.fromY(py) + c;
  for (const side of [0, 1]) {
    const sign = side ? 1 : -1;
    g.beginPath();
    corners.forEach((p, i) => {
      const q = corners[(i + 1) % 4];
      const [u, v] = [sign * value(p), sign * value(q)];
      if (u >= 0) g.lineTo(...p);
      if ((u < 0 && v > 0) || (u > 0 && v < 0)) {
        const t = u / (u - v);
        g.lineTo(p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]));
      }
    });
    g.closePath();
    g.globalAlpha = 0.11;
    g.fillStyle = colour(side);
    g.fill();
  }
  g.globalAlpha = 1;
}

function drawLine(g: CanvasRenderingContext2D, [a, b, c]: Line, to: Frame, width: number, height: number): void {
  if ((a === 0 && b === 0) || !Number.isFinite(a + b + c)) return;
  g.beginPath();
  // Where it is steep in pixels, x follows y.
  const steep = Math.abs(a * (to.fromX(1) - to.fromX(0))) > Math.abs(b * (to.fromY(1) - to.fromY(0)));
  if (steep) {
    const at = (py: number) => to.toX(-(b * to.fromY(py) + c) / a);
    g.moveTo(at(0), 0);
    g.lineTo(at(height), height);
  } else {
    const at = (px: number) => to.toY(-(a * to.fromX(px) + c) / b);
    g.moveTo(0, at(0));
    g.lineTo(width, at(width));
  }
  g.stroke();
}

function arrow(g: CanvasRenderingContext2D, x: number, y: number, u: number, v: number): void {
  const length = Math.hypot(u - x, v - y);
  if (length < 3) return;
  const [dx, dy] = [(u - x) / length, (v - y) / length];
  const head = Math.min(11, length / 2) * (g.lineWidth > 3 ? 1.5 : 1);
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(u - dx * head * 0.6, v - dy * head * 0.6);
  g.stroke();
  g.beginPath();
  g.moveTo(u, v);
  g.lineTo(u - head * dx + 0.5 * head * dy, v - head * dy - 0.5 * head * dx);
  g.lineTo(u - head * dx - 0.5 * head * dy, v - head * dy + 0.5 * head * dx);
  g.closePath();
  g.fill();
}

/** The weight vector before and after, and its change, from the foot of the centre on the line. */
function drawVectors(g: CanvasRenderingContext2D, before: Line | null, after: Line, to: Frame, width: number, height: number): void {
  const [cx, cy] = [to.fromX(width / 2), to.fromY(height / 2)];
  const norm = (l: Line) => Math.hypot(l[0], l[1]);
  const longest = Math.max(norm(after), before ? norm(before) : 0);
  if (!(longest > 0) || !Number.isFinite(longest)) return;
  const base = norm(after) > 0 ? after : (before ?? after);
  const t = (base[0] * cx + base[1] * cy + base[2]) / norm(base) ** 2;
  const clamp = (v: number, most: number) => Math.max(0.12 * most, Math.min(0.88 * most, v));
  const [x, y] = [clamp(to.toX(cx - t * base[0]), width), clamp(to.toY(cy - t * base[1]), height)];
  const scale = (0.2 * Math.min(width, height)) / longest;
  const tip = (l: Line): [number, number] => [x + scale * l[0], y - scale * l[1]];
  const { ink: black, grey, accent } = ink();
  const [u, v] = tip(after);
  const changed = before && (before[0] !== after[0] || before[1] !== after[1]);
  if (before && changed) {
    g.strokeStyle = g.fillStyle = grey;
    g.setLineDash([4, 3]);
    arrow(g, x, y, ...tip(before));
    g.setLineDash([]);
  }
  g.strokeStyle = g.fillStyle = black;
  arrow(g, x, y, u, v);
  if (before && changed) {
    g.strokeStyle = g.fillStyle = accent;
    arrow(g, ...tip(before), u, v);
  }
}

/** The weight vectors of several classes, from the origin. */
function drawStar(g: CanvasRenderingContext2D, lines: Line[], to: Frame, width: number, height: number): void {
  const longest = Math.max(...lines.map((l) => Math.hypot(l[0], l[1])));
  const [x, y] = [to.toX(0), to.toY(0)];
  if (!(longest > 0) || x < 0 || y < 0 || x > width || y > height) return;
  const scale = (0.25 * Math.min(width, height)) / longest;
  lines.forEach((l, d) => {
    g.strokeStyle = g.fillStyle = ink().ink;
    const wide = g.lineWidth;
    g.lineWidth = wide + 3;
    arrow(g, x, y, x + scale * l[0], y - scale * l[1]);
    g.lineWidth = wide;
    g.strokeStyle = g.fillStyle = colour(d);
    arrow(g, x, y, x + scale * l[0], y - scale * l[1]);
  });
}

/** What changes from visit to visit. */
export function drawMoving(g: CanvasRenderingContext2D, scene: Scene, to: Frame, width: number, height: number): void {
  const { ink: black, grey, accent } = ink();
  const thick = scene.large ? 4 : 2.2;
  const { step, planes } = scene;
  const lines = step?.lines ?? [];
  const single = planes === 1 && lines.length === 1;
  if (single && step?.lines_before && !step.correct) {
    g.strokeStyle = grey;
    g.lineWidth = 0.7 * thick;
    g.setLineDash([7, 5]);
    drawLine(g, step.lines_before[0], to, width, height);
    g.setLineDash([]);
  }
  lines.forEach((line, d) => {
    if (scene.jointly) return;
    g.strokeStyle = single ? black : colour(d);
    g.lineWidth = single ? thick : 0.6 * thick;
    drawLine(g, line, to, width, height);
  });
  if (scene.readout) {
    g.strokeStyle = accent;
    g.lineWidth = thick;
    g.setLineDash([2, 4]);
    scene.readout.forEach((line) => drawLine(g, line, to, width, height));
    g.setLineDash([]);
  }
  g.lineWidth = 0.8 * thick;
  if (scene.jointly) drawStar(g, lines, to, width, height);
  if (single && !scene.places?.projected) drawVectors(g, step?.lines_before?.[0] ?? null, lines[0], to, width, height);
  drawMarked(g, scene, to, thick);
  if (step?.place) {
    const r = (size((scene.places?.places.length ?? 0) / 2, scene.large) + 6) * 1;
    const [x, y] = [to.toX(step.place[0]), to.toY(step.place[1])];
    g.fillStyle = colour(step.label ?? 0);
    mark(g, step.label ?? 0, x, y, r - 5);
    g.fill();
    g.lineWidth = thick;
    g.strokeStyle = step.correct ? black : accent;
    g.beginPath();
    g.arc(x, y, r, 0, 7);
    g.stroke();
  }
  drawCursor(g, scene, to);
}

/** The rows that a proof speaks of, and the widest gap. */
function drawMarked(g: CanvasRenderingContext2D, scene: Scene, to: Frame, thick: number): void {
  const { checked } = scene;
  if (!checked || !scene.places) return;
  const marked = new Set(checked.touching?.rows ?? checked.balanced);
  const { accent } = ink();
  g.strokeStyle = accent;
  g.lineWidth = thick;
  scene.rows.forEach((row, i) => {
    if (!marked.has(row + 1)) return;
    const [x, y] = [to.toX(scene.places!.places[2 * i]), to.toY(scene.places!.places[2 * i + 1])];
    const half = size(scene.places!.places.length / 2, scene.large) + 5;
    g.strokeRect(x - half, y - half, 2 * half, 2 * half);
  });
}

function drawCursor(g: CanvasRenderingContext2D, scene: Scene, to: Frame): void {
  if (!scene.cursor) return;
  const [x, y] = [to.toX(scene.cursor[0]), to.toY(scene.cursor[1])];
  g.strokeStyle = ink().accent;
  g.lineWidth = 2;
  g.beginPath();
  g.moveTo(x - 12, y);
  g.lineTo(x + 12, y);
  g.moveTo(x, y - 12);
  g.lineTo(x, y + 12);
  g.stroke();
}

/** Everything. */
export function drawAll(g: CanvasRenderingContext2D, still: CanvasImageSource, scene: Scene, to: Frame, width: number, height: number): void {
  g.fillStyle = ink().paper;
  g.fillRect(0, 0, width, height);
  if (scene.field) drawField(g, scene.field, to);
  else if (scene.planes === 1 && scene.step?.lines?.length === 1 && scene.step.lines[0].some((v, i) => i < 2 && v !== 0)) {
    drawSides(g, scene.step.lines[0], to, width, height);
  }
  g.drawImage(still, 0, 0, width, height);
  drawMoving(g, scene, to, width, height);
}
