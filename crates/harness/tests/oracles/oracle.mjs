// Collects garbage a known number of times, and prints the window and what V8's own profiler has of it. Run with --expose-gc.
import { statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { GCProfiler } from 'node:v8';

const path = process.env.RPCBENCH_RUNTIME_LOG;
const { logCollections } = await import(process.argv[2]);
logCollections(path);

async function nextReading() {
  for (const { size } = statSync(path); statSync(path).size === size; ) {
    await setTimeout(1);
  }
}

const profiler = new GCProfiler();
profiler.start();
const start = process.hrtime.bigint();
let kept = [];
for (let i = 0; i < 1_000_000; i++) {
  kept = i % 100_000 ? [...kept.slice(-2), { i }] : [];
}
for (let i = 0; i < 5; i++) {
  globalThis.gc();
}
globalThis.gc({ type: 'minor' });
await nextReading();
const end = process.hrtime.bigint();
const counts = { minor: 0, major: 0 };
for (const { gcType } of profiler.stop().statistics) {
  if (gcType === 'Scavenge') {
    counts.minor++;
  } else if (gcType.startsWith('MarkSweepCompact') || gcType === 'MarkCompact') {
    counts.major++;
  }
}
console.log(`window ${start} ${end}`);
for (const [kind, count] of Object.entries(counts)) {
  console.log(`${kind} ${count}`);
}
await nextReading();
