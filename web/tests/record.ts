/** Records made by modifying golden ones. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, rpcbench } from "./pages";

// A record is untyped JSON; tests modify it.
export type Json = any;

export interface Record {
  run: Json;
  events: Json[];
}

export function read(name: string): Record {
  const file = (file: string) => readFileSync(join(folder(name), file), "utf8");
  return { run: JSON.parse(file("run.json")), events: file("events.jsonl").trim().split("\n").map((line) => JSON.parse(line)) };
}

/** Writes a record and its page, under a separate name. */
export function write(name: string, { run, events }: Record): void {
  const to = folder(name);
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, "run.json"), JSON.stringify(run));
  writeFileSync(join(to, "events.jsonl"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  rpcbench("report", "--html", `${to}.html`, to);
}

/** The figures of a record's cells, as in `--format json`. */
export function cells(name: string): Json[] {
  return JSON.parse(rpcbench("report", "--format", "json", folder(name))).workloads.flatMap((workload: Json) => workload.cells);
}

/** The changes of a run of two builds, as in `--format json`. */
export function changes(name: string): Json[] {
  return JSON.parse(rpcbench("compare", "--format", "json", folder(name))).changes;
}

/** What belongs to an entry. */
export function of(event: Json, entry: string): boolean {
  return (event.prepared ?? event.trial)?.entry === entry;
}
