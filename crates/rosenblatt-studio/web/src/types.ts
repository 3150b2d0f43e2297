// What the server answers.

export interface Kind {
  name: string;
  summary: string;
  examples: [number, number | null];
  features: [number, number | null];
  classes: [number, number | null];
  margin: number | null;
  spread: number | null;
  noise: boolean;
}

export interface About {
  version: string;
  kinds: Kind[];
  given: string | null;
  lessons: boolean;
  png: boolean;
  most_bytes: number;
  most_rows: number;
  letters: string[];
}

export interface Reading {
  label?: string | null;
  positive?: string | null;
  scale?: string | null;
}

export interface Data {
  page: string;
  name: string;
  format: string;
  bytes: number;
  rows: number;
  features: number;
  names: string[];
  classes: string[];
  counts: number[];
  columns: string[];
  reading: Reading;
  /** The two features to begin with. */
  axes: [number, number];
  drawn: number[];
  labels: number[];
  notes: string[];
  warnings: string[];
  made_by: string | null;
}

export interface Parameter {
  name: string;
  form: string;
  help: string;
  default: string;
  value: string;
  choices: { value: string; refused: string | null }[] | null;
  proposed: string[] | null;
}

export interface Form {
  parameters: Parameter[];
  traced: boolean;
  wrong: string | null;
}

export interface Commands {
  trace: string | null;
  train: string;
  generate: string | null;
}

export interface Bracket {
  lower: number;
  upper: number;
}

export interface Facts {
  traced: boolean;
  length: number;
  passes: number;
  width: number;
  over: boolean;
  broken_off: string | null;
  reason: string | null;
  failed: boolean;
  stop: string | null;
  mistakes: number | null;
  updates: number | null;
  updates_at_most: number | null;
  mistakes_at_most: number | null;
  radius: number | null;
  margin: Bracket | null;
  kernel: string | null;
  embedding: string | null;
  planes: string[];
  weights: string[];
  linear: boolean;
  learner: string;
  /** Whether the largest score wins, so that no plane is a boundary of its own. */
  jointly: boolean;
  readout: string;
}

export type Line = [number, number, number];

export interface Terms {
  terms: [string, number, number][];
  others: number;
  others_sum: number;
}

export interface Step {
  k: number;
  pass: number;
  row?: number;
  label?: number;
  class?: string;
  place?: [number, number];
  correct?: boolean;
  mistake?: boolean;
  scores?: number[];
  planes?: Terms[];
  before?: number[];
  after?: number[] | null;
  lines_before?: Line[] | null;
  lines?: Line[] | null;
  mistakes: number;
  updates: number;
  loss?: number | null;
}

export interface Detail {
  k: number;
  rows: number;
  accuracy: number;
  margins: { from: number; width: number; counts: number[]; smallest: number; wrong: number; on_boundary: number };
  read_out: { pass: number; accuracy: number | null; lines: Line[] | null } | null;
}

export interface Field {
  k: number;
  n: number;
  x: [number, number];
  y: [number, number];
  classes: number[];
  lead: number[];
}

export interface Curve {
  counts: [number, number, number][];
  losses: [number, number, number][];
  loss: string;
}

export interface Places {
  places: number[];
  axes: [string, string];
  projected: boolean;
}

export interface Checked {
  verdict: "separable" | "quasi-separable" | "overlapping";
  explained: string;
  margin: Bracket | null;
  plain_margin?: Bracket | null;
  radius: number;
  updates_at_most: number | null;
  classified: boolean;
  without_estimate: { name: string; toward: string }[];
  balanced: number[];
  touching: { rows: number[]; weights: [number, number] | null; bias: number } | null;
  certificate: boolean;
  no_certificate: string | null;
  command: string;
}

/** A run that needs no server. */
export interface Recorded {
  about: Data;
  facts: Facts;
  held: number[];
  steps: Step[];
  details: Detail[];
  fields: Field[];
  curve: Curve;
  places: Places;
  rectangle: { x: [number, number]; y: [number, number] };
}

export type Point = [number, number, number];

export interface Wanted {
  kind: string;
  examples?: number;
  features?: number;
  classes?: number;
  margin?: number;
  noise?: number;
  spread?: number;
  seed?: number;
}

/** Where the data of the page come from; enough to send them again. */
export type Source =
  | { kind: "points"; points: Point[] }
  | { kind: "generate"; wanted: Wanted }
  | { kind: "file"; name: string; file: Blob; labels?: Blob; reading: Reading }
  | { kind: "given"; reading: Reading };

export type Given = Record<string, string>;
