import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

const NONCE_DIGITS = 8;
const NONCES = 10 ** NONCE_DIGITS;
// Whole messages are compared on every 16th call.
const WHOLE_EVERY = 16;
// The field with the nonce, in the content of a request; `text` is a field of the request itself.
const FIELDS = { text: 'text', record: 'field1', dto: 'prop1', tree: 'name' };

let nonces = 0;

/** A decoded request, which gets a nonce before each call. */
export class Request {
  constructor(shape, message) {
    this.field = FIELDS[shape];
    if (!this.field) {
      throw new Error(`unknown shape '${shape}'`);
    }
    this.message = message;
    this.content = shape === 'text' ? message : message[shape];
    this.nonce = 0;
    const text = this.content[this.field];
    // A short field gets the last digits that fit.
    this.skipped = Math.max(NONCE_DIGITS - text.length, 0);
    this.tail = text.slice(NONCE_DIGITS);
  }

  patch() {
    nonces += 1;
    this.nonce = nonces;
    this.content[this.field] = String(nonces % NONCES).padStart(NONCE_DIGITS, '0').slice(this.skipped) + this.tail;
  }

  isAnsweredBy({ echo }) {
    const sent = this.content[this.field];
    if (this.content === this.message) {
      return echo === sent;
    }
    return echo?.[this.field] === sent && (this.nonce % WHOLE_EVERY !== 0 || isDeepStrictEqual(echo, this.content));
  }
}

/** Reads a file of requests, each preceded by its length. */
export function readRequests(path) {
  const data = readFileSync(path);
  const requests = [];
  let at = 0;
  while (at < data.length) {
    const end = at + 4 <= data.length ? at + 4 + data.readUInt32LE(at) : Infinity;
    if (end > data.length) {
      throw new Error(`${path}: request ${requests.length} is cut short`);
    }
    requests.push(data.subarray(at + 4, end));
    at = end;
  }
  if (requests.length === 0) {
    throw new Error(`${path}: no requests`);
  }
  return requests;
}

/** Reads a file of due times. */
export function readSchedule(path) {
  const data = readFileSync(path);
  return new BigUint64Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length));
}
