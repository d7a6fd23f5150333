/** The pages of the golden records, made once before the tests by the program under test. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";

const records = join(import.meta.dirname, "records");
const made = join(import.meta.dirname, "../test-results/pages");
const program = resolve(process.env.RPCBENCH ?? join(import.meta.dirname, "../../target/release/rpcbench"));

/** The page of a record. */
export function page(name: string): string {
  return `file://${join(made, name)}.html`;
}

/** The folder of a record, unpacked. */
export function folder(name: string): string {
  return join(made, name);
}

/** Runs the program under test. */
export function rpcbench(...args: string[]): string {
  return execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28 });
}

export default function make(): void {
  if (!existsSync(program)) throw new Error(`${program} is missing: cargo build --release, or set RPCBENCH to the program`);
  rmSync(made, { recursive: true, force: true });
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
