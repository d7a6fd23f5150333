// Writes the contract's runtime log to the file RPCBENCH_RUNTIME_LOG.
import { constants, openSync, writeSync } from 'node:fs';
import { constants as gc, performance, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

// Time between readings of the heap.
const READING_INTERVAL_MILLIS = 50;

const KINDS = new Map([
  [gc.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [gc.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [gc.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [gc.NODE_PERFORMANCE_GC_WEAKCB, 'weak-callbacks'],
]);

/**
 * Starts the log of this process.
 *
 * @param {string} path the file
 */
export function logCollections(path) {
  const file = openSync(path, constants.O_APPEND | constants.O_WRONLY | constants.O_CREAT, 0o644);
  // Both clocks are monotonic; performance counts from the start of the process.
  const origin = Number(process.hrtime.bigint() - BigInt(Math.round(performance.now() * 1e6)));
  const nanos = (millis) => origin + Math.round(millis * 1e6);

  let lines = `${process.pid} begin ${nanos(performance.now())}\n`;
  const take = (entries) => {
    for (const { startTime, duration, detail } of entries) {
      const kind = KINDS.get(detail.kind) ?? 'other';
      lines += `${process.pid} pause ${nanos(startTime + duration)} ${Math.round(duration * 1e6)} ${kind} -\n`;
    }
  };
  const observer = new PerformanceObserver((list) => take(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });

  const write = () => {
    // Before the pauses are taken, which then include all that ended by this instant. V8 does not count allocations.
    const now = nanos(performance.now());
    take(observer.takeRecords());
    writeSync(file, `${lines}${process.pid} reading ${now} ${getHeapStatistics().used_heap_size} -\n`);
    lines = '';
  };
  write();
  setInterval(write, READING_INTERVAL_MILLIS).unref();
}
