const RECORD_BYTES = 24;
// Payload of a full frame of records.
const FRAME_BYTES = Math.floor(4096 / RECORD_BYTES) * RECORD_BYTES;
// How long a record may wait.
const FLUSH_MILLIS = 5;
const FLUSH_NANOS = 5_000_000n;

/** Collects records of calls into frames, which the thread with the socket writes. */
export class Records {
  constructor(control) {
    this.control = control;
    this.renew();
  }

  renew() {
    this.view = new DataView(new ArrayBuffer(FRAME_BYTES));
    this.used = 0;
    this.first = 0n;
  }

  add(start, done, call, outcome) {
    const { view, used } = this;
    view.setBigUint64(used, start, true);
    view.setBigUint64(used + 8, done, true);
    view.setUint32(used + 16, call, true);
    view.setUint8(used + 20, outcome.kind);
    view.setUint16(used + 22, outcome.status, true);
    if (used === 0) {
      this.first = done;
    }
    this.used = used + RECORD_BYTES;
    // Not only by the timer, which a busy event loop delays.
    if (this.used === FRAME_BYTES || done - this.first >= FLUSH_NANOS) {
      this.flush();
    }
  }

  flush() {
    if (this.used > 0) {
      const { buffer } = this.view;
      this.control.postMessage(new Uint8Array(buffer, 0, this.used), [buffer]);
      this.renew();
    }
  }

  /** Starts a timer that flushes, for when no call ends. Returns a function that stops it. */
  startFlushing() {
    const timer = setInterval(() => this.flush(), FLUSH_MILLIS);
    return () => clearInterval(timer);
  }
}
