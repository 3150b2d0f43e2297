// The state of the page as the end of its address.
import { compare, data, k, load, showReadout, slots, source, view } from "./store";
import type { Given, Source } from "./types";

/** Bytes of a file that an address may carry. */
const MOST = 20_000;

interface State {
  from: Source | { kind: "text"; name: string; text: string; reading: object };
  given: Given[];
  k: number;
  view: { x: number; y: number; projection: boolean };
  compare: boolean;
  readout: boolean;
}

const encode = (text: string) =>
  btoa(Array.from(new TextEncoder().encode(text), (b) => String.fromCharCode(b)).join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

const decode = (text: string) =>
  new TextDecoder().decode(Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0)));

/** Why an address cannot carry the state, if so. */
export function linkRefused(): string | null {
  const from = source.value;
  if (from.kind === "file" && (from.file.size > MOST || from.labels)) return "the file is too large for an address.";
  if (from.kind === "points" && from.points.length > 2000) return "the points are too many for an address.";
  return null;
}

export async function link(): Promise<string> {
  let from: State["from"] = source.value;
  if (from.kind === "file") from = { kind: "text", name: from.name, text: btoa(Array.from(new Uint8Array(await from.file.arrayBuffer()), (b) => String.fromCharCode(b)).join("")), reading: from.reading };
  const state: State = {
    from,
    given: slots.map((slot) => slot.given.value),
    k: k.value,
    view: view.value,
    compare: compare.value,
    readout: showReadout.value,
  };
  return `#${encode(JSON.stringify(state))}`;
}

/** Restores the state of an address; says whether it carried one. */
export async function restoreLink(hash: string): Promise<boolean> {
  if (hash.length < 10) return false;
  let state: State;
  try {
    state = JSON.parse(decode(hash.slice(1)));
    if (!state.from || !Array.isArray(state.given)) return false;
  } catch {
    return false;
  }
  const { from } = state;
  let origin: Source;
  if (from.kind === "text") {
    const bytes = Uint8Array.from(atob(from.text), (c) => c.charCodeAt(0));
    origin = { kind: "file", name: from.name, file: new Blob([bytes]), reading: from.reading };
  } else origin = from;
  slots.forEach((slot, i) => (slot.given.value = state.given[i] ?? slot.given.value));
  compare.value = state.compare;
  showReadout.value = state.readout;
  view.value = state.view;
  await load(origin, { k: state.k, view: true });
  return data.value !== null;
}
