/** The page's data, written by `crates/report/src/html`. */

export type Value = string | number | boolean | null;
/** A bucket of response times, 2^(b/8) ns up to 2^((b+1)/8) ns, and its number of calls. */
export type Bucket = [bucket: number, calls: number];

export interface Page {
  schema: number;
  runs: Run[];
}

export interface Run {
  name: string;
  started: string;
  parts: Part[];
  warnings: string[];
  how_to_read: string[];
  command: string;
  origin: Fact[];
  processes: { entry: string; state: string; facts: Fact[] }[];
  calls: Calls[];
}

/** Single calls of a trial. A run with only one entry or workload may leave its name empty. */
export interface Calls {
  entry: string;
  workload: string;
  number: number;
  column_ns: number;
  counts: [column: number, bucket: number, ok: number, failed: number][];
  slowest: [ns: number, due_ns: number, ok: boolean][];
}

export type Fact = [name: string, value: string];

export interface Part {
  kind: "ranking" | "curve" | "load" | "changes";
  name: string;
  headline: string[];
  setting: string[];
  ranked_by: string | null;
  table: Table;
  over_load: { x: string; table: Table | null } | null;
  /** Columns of `Window.values`. */
  window_columns: Column[];
  distributions: { name: string; meaning: string; distribution: Distribution }[];
  changes: Changes | null;
  blocks: Block[];
}

/** A titled section or, without a title, remarks on the part's table. */
export interface Block {
  title: string | null;
  content: { table?: TextTable; prose?: string[]; list?: Item[] }[];
}

/** A table of text cells. */
export interface TextTable {
  columns: { title: string; is_number: boolean; cells: string[] }[];
}

export interface Item {
  text: string;
  evidence: string[];
}

/** Changes between two runs or builds: a row per figure of a cell. */
export interface Changes {
  precision_share: number;
  columns: [title: string, number: boolean][];
  rows: { name: string; texts: string[]; change_share: number; range: [low: number, high: number] | null; worth: "good" | "bad" | "neither" }[];
}

export interface Table {
  columns: Column[];
  rows: Row[];
}

export interface Column {
  key: string;
  title: string;
  unit: string;
  meaning: string;
  number: boolean;
  shown: "usually" | "wide" | "row";
  interval: [low: number, high: number] | null;
}

export interface Row {
  name: string;
  entry: string;
  verdict: string;
  ranked: boolean;
  knee: boolean;
  values: Value[];
  texts: (string | null)[];
  reason: string | null;
  notes: string[];
  evidence: string[];
  cell: Cell | null;
}

export interface Cell {
  response: Distribution | null;
  connect: Distribution | null;
  windows: Window[];
  heat: { windows: [number, number]; buckets: Bucket[] }[];
  series: Point[];
  warm: WarmUpCurve[];
}

export interface Distribution {
  count: number;
  curve: [quantile: number, ns: number][];
  buckets: Bucket[];
}

export interface Window {
  process: number;
  number: number;
  at_s: number;
  length_s: number;
  values: Value[];
}

export interface Point {
  at_s: number;
  ok_per_s: number;
  errors_per_s: number;
  mean_ns: number | null;
  max_ns: number | null;
  paused_share: number | null;
}

export interface WarmUpCurve {
  process: number;
  steady_after_ms: number | null;
  points: { at_ms: number; calls_per_s: number; calls_per_cpu_s: number | null; compiler_share: number | null }[];
}

/** Decodes the page's data: base64 of deflated JSON. */
export async function read(element: Element | null): Promise<Page> {
  const packed = element?.textContent?.trim() ?? "";
  if (packed === "" || packed.startsWith("<!--")) throw new Error("This page has no data.");
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(json).text()) as Page;
}

/** Index of the column with this key, or -1. */
export function columnIndex(columns: { key: string }[], key: string | null): number {
  return columns.findIndex((column) => column.key === key);
}

/** What the table measures: "server" or "client". */
export function subject(table: Table): string {
  return table.columns[columnIndex(table.columns, "entry")]?.title ?? "server";
}

/** The number in a row's column, or null. */
export function numberOf(table: Table, row: Row, key: string | null): number | null {
  const value = row.values[columnIndex(table.columns, key)];
  return typeof value === "number" ? value : null;
}

/** The text in a row's column, or an empty string. */
export function textOf(table: Table, row: Row, key: string): string {
  const value = row.values[columnIndex(table.columns, key)];
  return typeof value === "string" ? value : "";
}

/** The ends of the interval of a row's figure, or null. */
export function interval(column: Column | undefined, row: Row): [number, number] | null {
  const [low, high] = (column?.interval ?? []).map((end) => row.values[end]);
  return typeof low === "number" && typeof high === "number" ? [low, high] : null;
}

/** The bounds of a bucket in nanoseconds. */
export function bucketBounds(bucket: number): [number, number] {
  return [2 ** (bucket / 8), 2 ** ((bucket + 1) / 8)];
}
