// The thread that has the socket. It handles `stop`, passes other messages to the thread that makes the calls, and writes that thread's
// messages and records.
import net from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const KIND_MESSAGE = 1;
const KIND_RECORDS = 2;
const HEADER_BYTES = 8;
const MAX_FRAME = 65536;

// The instant to stop at, until it is known.
const NEVER = 2n ** 63n - 1n;

const { path, stopAt } = workerData;
const socket = net.connect(path);
let received = Buffer.alloc(0);

function send(kind, content) {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(content.byteLength, 0);
  header.writeUInt32LE(kind, 4);
  socket.write(Buffer.concat([header, content]));
}

function sendMessage(message) {
  send(KIND_MESSAGE, Buffer.from(JSON.stringify(message)));
}

function handle(text) {
  const now = Number(process.hrtime.bigint());
  const message = JSON.parse(text);
  if (message.type === 'start' || message.type === 'stop') {
    // A JavaScript number is exact only for the first 104 days after boot, 2^53 ns.
    message.at = BigInt(/"at_ns"\s*:\s*(\d+)/.exec(text)[1]);
    sendMessage({ type: 'ack', of: message.type, received_ns: now });
  }
  if (message.type === 'stop') {
    Atomics.store(stopAt, 0, message.at);
    return;
  }
  if (message.type === 'start') {
    Atomics.store(stopAt, 0, NEVER);
  }
  parentPort.postMessage(message);
}

socket.on('data', (data) => {
  received = received.length ? Buffer.concat([received, data]) : data;
  while (received.length >= HEADER_BYTES) {
    const length = received.readUInt32LE(0);
    const kind = received.readUInt32LE(4);
    if (kind !== KIND_MESSAGE || length > MAX_FRAME) {
      throw new Error(`a frame of kind ${kind} with ${length} bytes; expected kind ${KIND_MESSAGE} with at most ${MAX_FRAME}`);
    }
    const end = HEADER_BYTES + length;
    if (received.length < end) {
      break;
    }
    handle(received.toString('utf8', HEADER_BYTES, end));
    received = received.subarray(end);
  }
});
socket.on('error', () => process.exit());
socket.on('close', () => process.exit());

parentPort.on('message', (message) => {
  if (message instanceof Uint8Array) {
    send(KIND_RECORDS, message);
  } else {
    sendMessage(message);
  }
});
