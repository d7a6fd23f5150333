/** Builds the pages of the golden records once, before the tests, with the program under test. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";

const records = join(import.meta.dirname, "records");
const output = join(import.meta.dirname, "../test-results/pages");
const program = resolve(process.env.RPCBENCH ?? join(import.meta.dirname, "../../target/release/rpcbench"));

/** The URL of a record's page. */
export function pageUrl(name: string): string {
  return `file://${join(output, name)}.html`;
}

/** The folder of an unpacked record. */
export function folder(name: string): string {
  return join(output, name);
}

/** Runs the program under test and returns its standard output. */
export function rpcbench(...args: string[]): string {
  return execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28 });
}

export default function buildPages(): void {
  if (!existsSync(program)) throw new Error(`${program} is missing: cargo build --release, or set RPCBENCH to the program`);
  rmSync(output, { recursive: true, force: true });
  for (const name of readdirSync(records)) {
    const to = folder(name);
    mkdirSync(to, { recursive: true });
    cpSync(join(records, name, "run.json"), join(to, "run.json"));
    for (const packed of readdirSync(join(records, name), { encoding: "utf8", recursive: true }).filter((file) => file.endsWith(".gz"))) {
      mkdirSync(dirname(join(to, packed)), { recursive: true });
      writeFileSync(join(to, packed.slice(0, -3)), gunzipSync(readFileSync(join(records, name, packed))));
    }
    rpcbench("report", "--html", `${to}.html`, to);
  }
}
