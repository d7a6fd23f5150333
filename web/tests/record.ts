/** Records made from golden ones by changing what they say. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, rpcbench } from "./pages";

// A record is whatever JSON it is; tests change it by hand.
export type Json = any;

export interface Record {
  run: Json;
  events: Json[];
}

export function read(name: string): Record {
  const file = (file: string) => readFileSync(join(folder(name), file), "utf8");
  return { run: JSON.parse(file("run.json")), events: file("events.jsonl").trim().split("\n").map((line) => JSON.parse(line)) };
}

/** Writes a record and its page, under a name of its own. */
export function write(name: string, { run, events }: Record): void {
  const to = folder(name);
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, "run.json"), JSON.stringify(run));
  writeFileSync(join(to, "events.jsonl"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
  rpcbench("report", "--html", `${to}.html`, to);
}

/** The figures of a record's cells, as `--format json` has them. */
export function cells(name: string): Json[] {
  return JSON.parse(rpcbench("report", "--format", "json", folder(name))).workloads.flatMap((workload: Json) => workload.cells);
}

/** What a run of two builds says of them, as `--format json` has it. */
export function changes(name: string): Json[] {
  return JSON.parse(rpcbench("compare", "--format", "json", folder(name))).changes;
}

/** What belongs to an entry. */
export function of(event: Json, entry: string): boolean {
  return (event.prepared ?? event.trial)?.entry === entry;
}
