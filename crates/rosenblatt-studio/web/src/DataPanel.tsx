// Where the data come from: points, a generator, a file; and what of them is shown.
import { signal } from "@preact/signals";
import { count, counted } from "./format";
import { canUndo, clear, editable, pen, points, undo } from "./points";
import { about, busy, data, dataError, load, places, readAgain, showPlaces, source, view, goto, k, slots } from "./store";
import { Swatch } from "./Swatch";
import type { Kind, Wanted } from "./types";

const wanted = signal<Wanted>({ kind: "blobs", examples: 100, noise: 0, seed: 1 });

export async function takeFiles(files: FileList | File[]): Promise<void> {
  const all = [...files];
  const labels = all.find((f) => /labels[-.]idx1/.test(f.name));
  const file = all.find((f) => f !== labels) ?? all[0];
  if (!file) return;
  const most = about.value?.most_bytes ?? 0;
  const size = file.size + (labels && labels !== file ? labels.size : 0);
  if (size > most) {
    dataError.value = `${file.name} has ${count(Math.round(size / 2 ** 20))} MiB, more than the ${count(most / 2 ** 20)} MiB that a page may send: use rosenblatt train, or a part of it.`;
    return;
  }
  await load({ kind: "file", name: file.name, file, labels: labels === file ? undefined : labels, reading: {} });
}

function Amount(props: { name: string; value: number | undefined; standard: number | null; min: number; max: number; step?: number; set: (v: number | undefined) => void }) {
  const shown = props.value ?? props.standard ?? props.min;
  return (
    <label class="amount">
      <span>{props.name}</span>
      <input type="range" min={props.min} max={props.max} step={props.step ?? 1} value={shown} aria-label={props.name}
        onInput={(event) => props.set(Number(event.currentTarget.value))} />
      <input type="number" min={props.min} step={props.step ?? 1} value={shown} aria-label={`${props.name}, exactly`}
        onChange={(event) => props.set(event.currentTarget.value === "" ? undefined : Number(event.currentTarget.value))} />
    </label>
  );
}

function generate(next: Wanted): void {
  wanted.value = next;
  void load({ kind: "generate", wanted: next });
}

function Generator() {
  const kinds = about.value?.kinds ?? [];
  const now = wanted.value;
  const kind: Kind | undefined = kinds.find((one) => one.name === now.kind);
  const change = (part: Partial<Wanted>) => generate({ ...now, ...part });
  const take = (name: string) => {
    const next = kinds.find((one) => one.name === name);
    const few = next && next.examples[1] !== null ? Math.max(next.examples[1], Math.min(next.examples[0], 100)) : undefined;
    const flat = next && next.features[1] !== null && next.features[1] <= 2 ? 2 : undefined;
    // A margin that can be seen.
    const margin = next?.margin ? Math.max(next.margin, 0.1) : undefined;
    generate({ kind: name, examples: few, features: name === "sparse" ? undefined : flat, margin, seed: now.seed });
  };
  return (
    <div class="generator">
      <label class="row">
        <span>Kind</span>
        <select value={now.kind} onChange={(event) => take(event.currentTarget.value)} id="kind">
          {kinds.map((one) => <option value={one.name}>{one.name}</option>)}
        </select>
      </label>
      {kind && <p class="note">{kind.summary}</p>}
      {kind && kind.examples[1] !== null && (
        <Amount name="examples" value={now.examples} standard={kind.examples[0]} min={kind.examples[1]} max={Math.max(1000, kind.examples[0])} set={(examples) => change({ examples })} />
      )}
      {kind && kind.features[1] !== null && (
        <Amount name="features" value={now.features} standard={kind.features[0]} min={kind.features[1]} max={Math.max(20, kind.features[0])} set={(features) => change({ features })} />
      )}
      {kind && kind.classes[1] !== null && (
        <Amount name="classes" value={now.classes} standard={kind.classes[0]} min={kind.classes[1]} max={6} set={(classes) => change({ classes })} />
      )}
      {kind && kind.margin !== null && (
        <Amount name="margin" value={now.margin} standard={kind.margin} min={0} max={0.5} step={0.01} set={(margin) => change({ margin: margin || undefined })} />
      )}
      {kind?.noise && <Amount name="noise" value={now.noise} standard={0} min={0} max={0.5} step={0.01} set={(noise) => change({ noise })} />}
      {kind && kind.spread !== null && (
        <Amount name="spread" value={now.spread} standard={kind.spread} min={0} max={3} step={0.05} set={(spread) => change({ spread })} />
      )}
      <Amount name="seed" value={now.seed} standard={0} min={0} max={100} set={(seed) => change({ seed: seed ?? 0 })} />
    </div>
  );
}

function Points() {
  const letters = about.value?.letters ?? [];
  return (
    <div class="points">
      <p class="note">
        Click the picture to set a point, drag to move it, Shift-click (or right-click) to delete it.
        {!editable.value && " These data are no points in a plane: clear them first."}
      </p>
      <div class="pens" role="radiogroup" aria-label="Class of new points">
        {letters.map((letter, i) => (
          <label class={pen.value === i ? "chosen" : ""}>
            <input type="radio" name="pen" value={letter} checked={pen.value === i} onChange={() => (pen.value = i)} />
            <Swatch label={i} /> {letter}
          </label>
        ))}
      </div>
      <div class="buttons">
        <button type="button" onClick={() => void undo()} disabled={!canUndo.value}>Undo</button>
        <button type="button" onClick={() => void clear()} disabled={points.value.length === 0 && source.value.kind === "points"}>Clear</button>
      </div>
    </div>
  );
}

function Dropped() {
  const found = data.value;
  const file = source.value.kind === "file" || source.value.kind === "given";
  return (
    <div class="file">
      <label class="drop">
        <span>Drop a file anywhere, or choose one</span>
        <input type="file" multiple id="file" onChange={(event) => event.currentTarget.files && void takeFiles(event.currentTarget.files)} />
      </label>
      <p class="note">CSV, TSV, libsvm or IDX (images and labels together), compressed or not; it stays on this machine.</p>
      {file && found && (
        <>
          {found.columns.length > 0 && (
            <label class="row">
              <span>Label column</span>
              <select value={found.reading.label ?? ""} onChange={(event) => void readAgain({ label: event.currentTarget.value })}>
                <option value="">as found</option>
                {found.columns.map((name) => <option value={name}>{name}</option>)}
              </select>
            </label>
          )}
          <label class="row">
            <span>Against the rest</span>
            <select value={found.reading.positive ?? ""} onChange={(event) => void readAgain({ positive: event.currentTarget.value })}>
              <option value="">no class</option>
              {found.classes.filter((name) => !name.startsWith("not ")).map((name) => <option value={name}>{name}</option>)}
            </select>
          </label>
        </>
      )}
    </div>
  );
}

export async function see(next: { x?: number; y?: number; projection?: boolean }): Promise<void> {
  view.value = { ...view.value, projection: false, ...next };
  await showPlaces(k.value);
  await goto(k.value);
}

function Shown() {
  const found = data.value;
  if (!found) return null;
  const many = found.features > 2;
  const names = found.names.map((name, j) => <option value={j}>{name}</option>);
  const linear = slots[0].facts.value?.linear && (slots[0].facts.value?.planes.length ?? 1) === 1;
  return (
    <>
      {many && (
        <div class="shown" role="group" aria-label="What the picture shows">
          <label class="row"><span>Across</span>
            <select value={view.value.x} disabled={view.value.projection} onChange={(e) => void see({ x: Number(e.currentTarget.value) })}>{names}</select></label>
          <label class="row"><span>Up</span>
            <select value={view.value.y} disabled={view.value.projection} onChange={(e) => void see({ y: Number(e.currentTarget.value) })}>{names}</select></label>
          {linear && (
            <label class="check">
              <input type="checkbox" checked={view.value.projection} onChange={(e) => void see({ projection: e.currentTarget.checked })} />
              Along the weights
            </label>
          )}
          <p class="note">
            {view.value.projection
              ? places.value?.projected
                ? "Rows along the weight vector (distance from the boundary) and the leading direction across it."
                : "The weights are zero still: two columns instead."
              : "The plane of these two columns; a boundary is cut where the other features are at their means."}
          </p>
        </div>
      )}
      <label class="row"><span>Scaling</span>
        <select value={found.reading.scale ?? "none"} onChange={(e) => void readAgain({ scale: e.currentTarget.value })}>
          {["none", "standard", "minmax", "unit-rows"].map((name) => <option value={name}>{name}</option>)}
        </select>
      </label>
    </>
  );
}

const tab = signal<"points" | "generate" | "file">("points");
export const dataTab = tab;

export function DataPanel() {
  const found = data.value;
  const tabs = [["points", "Points"], ["generate", "Generate"], ["file", "File"]] as const;
  return (
    <section aria-labelledby="data-heading">
      <h2 id="data-heading">Data</h2>
      <div class="tabs" role="group" aria-label="Where the data come from">
        {tabs.map(([name, text]) => (
          <button type="button" aria-pressed={tab.value === name} onClick={() => (tab.value = name)}>{text}</button>
        ))}
      </div>
      {tab.value === "points" && <Points />}
      {tab.value === "generate" && <Generator />}
      {tab.value === "file" && <Dropped />}
      {busy.value && <p class="note" role="status">{busy.value}</p>}
      {dataError.value && <p class="error" role="alert">{dataError.value}</p>}
      {found && (
        <div class="facts" id="data-facts">
          <p><b>{found.name}</b>: {counted(found.rows, "row")}, {counted(found.features, "feature")}</p>
          <ul class="classes">
            {found.classes.slice(0, 12).map((name, i) => <li><Swatch label={i} /> {name} <span class="grey">{count(found.counts[i])}</span></li>)}
          </ul>
          {found.drawn.length < found.rows && (
            <p class="note" id="sampled">The picture shows {count(found.drawn.length)} of {count(found.rows)} rows; all are learned from.</p>
          )}
          {found.warnings.map((text) => <p class="note">Warning: {text}</p>)}
          <Shown />
        </div>
      )}
      {!found && !dataError.value && <p class="note">Two classes are needed: set points of both.</p>}
    </section>
  );
}
