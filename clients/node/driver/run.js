import { setImmediate, setTimeout } from 'node:timers/promises';

import { NOT_SENT, OK } from './outcome.js';
import { readSchedule } from './requests.js';

const now = process.hrtime.bigint;
// How long to poll the clock before the start: timers may be a millisecond late.
const SPIN_NANOS = 3_000_000n;
// Maximum sleep, after which stopAt is read again.
const MAX_SLEEP_MILLIS = 100;

const millis = (nanos) => Number(nanos) / 1e6;

/** Makes calls from `start` to `stop`. */
export class Run {
  constructor(load, message, stopAt, records) {
    this.at = message.at || now();
    this.stopAt = stopAt;
    this.records = records;
    this.limit = message.calls || Infinity;
    this.claimed = 0;
    this.slots = load.slots;
    if (message.schedule !== undefined) {
      if (!(message.in_flight_max >= 1)) {
        throw new Error('in_flight_max must be 1 or more');
      }
      this.schedule = readSchedule(message.schedule).subarray(0, Math.min(this.limit, Number.MAX_SAFE_INTEGER));
      this.slots = load.newSlots(message.in_flight_max);
    }
  }

  /** Makes the calls, and returns their number when the last one has ended. */
  async make() {
    const stopFlushing = this.records.startFlushing();
    const early = this.at - SPIN_NANOS - now();
    if (early > 0n) {
      await setTimeout(millis(early));
    }
    while (now() < this.at);
    const calls = this.schedule ? await this.openLoop() : await this.closedLoop();
    stopFlushing();
    return calls;
  }

  /** Whether calls may still start, or be due, at an instant. */
  isBeforeStop(instant) {
    return instant < Atomics.load(this.stopAt, 0);
  }

  async closedLoop() {
    const calls = await Promise.all(this.slots.map((slot) => this.repeat(slot)));
    return calls.reduce((sum, count) => sum + count, 0);
  }

  /** Makes the calls of a slot, one after another. */
  async repeat(slot) {
    let calls = 0;
    for (;;) {
      const start = now();
      if (!this.isBeforeStop(start) || this.claimed >= this.limit) {
        return calls;
      }
      this.claimed += 1;
      calls += 1;
      const outcome = await slot.call();
      this.records.add(start, now(), slot.number, outcome);
      if (outcome !== OK) {
        // Otherwise calls that fail at once would starve the event loop's I/O, and connections could not be opened again.
        await setImmediate();
      }
    }
  }

  /** Starts each call when it is due. */
  async openLoop() {
    const idle = [...this.slots];
    let calls = 0;
    let drained;
    const makeCall = async (slot, index, due) => {
      const outcome = await slot.call();
      this.records.add(due, now(), index, outcome);
      idle.push(slot);
      if (idle.length === this.slots.length) {
        drained?.();
      }
    };
    for (const [index, offset] of this.schedule.entries()) {
      const due = this.at + offset;
      if (!(await this.sleepUntil(due))) {
        break;
      }
      calls += 1;
      const slot = idle.pop();
      if (slot) {
        makeCall(slot, index, due);
      } else {
        this.records.add(due, now(), index, NOT_SENT);
      }
    }
    if (idle.length < this.slots.length) {
      await new Promise((resolve) => {
        drained = resolve;
      });
    }
    return calls;
  }

  /** Waits for a due time. Returns false if the run stops before it. */
  async sleepUntil(due) {
    while (this.isBeforeStop(due)) {
      const rest = due - now();
      if (rest <= 0n) {
        return true;
      }
      await setTimeout(Math.min(millis(rest), MAX_SLEEP_MILLIS));
    }
    return false;
  }
}
