/** Reads golden records, and writes modified ones. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, rpcbench } from "./pages";

// Records are untyped JSON: tests modify them freely.
export type Json = any;

export interface Record {
  run: Json;
  events: Json[];
}

export function read(name: string): Record {
  const file = (file: string) => readFileSync(join(folder(name), file), "utf8");
  return { run: JSON.parse(file("run.json")), events: file("events.jsonl").trim().split("\n").map((line) => JSON.parse(line)) };
}

/** Writes a record and its page under a new name. */
export function write(name: string, { run, events }: Record): void {
  const to = folder(name);
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, "run.json"), JSON.stringify(run));
  writeFileSync(join(to, "events.jsonl"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  rpcbench("report", "--html", `${to}.html`, to);
}

/** The cells of a record's JSON report. */
export function cells(name: string): Json[] {
  return JSON.parse(rpcbench("report", "--format", "json", folder(name))).workloads.flatMap((workload: Json) => workload.cells);
}

/** The changes in the JSON comparison of a run of two builds. */
export function changes(name: string): Json[] {
  return JSON.parse(rpcbench("compare", "--format", "json", folder(name))).changes;
}

/** True if an event belongs to an entry. */
export function belongsTo(event: Json, entry: string): boolean {
  return (event.prepared ?? event.trial)?.entry === entry;
}
