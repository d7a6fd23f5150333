// Shared by the client programs in Node.js: everything in contract/clients.md except the calls.
//
// A worker thread has the socket, so that a busy event loop delays no message: control.js. This thread makes the calls. They share the
// instant to stop at.
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { Load } from './load.js';
import { Records } from './records.js';
import { Run } from './run.js';

const CHECKS = 'text: the whole string; others: the field with the nonce, and on every 16th call the whole message';

/**
 * Executes rpcbench's commands until it closes the socket or sends SIGTERM.
 *
 * @typedef {object} Library
 * @property {string} name its name in the manifest
 * @property {string} package the package whose version is reported
 * @property {boolean} multiplexed whether connections carry several calls at a time; if not, the library has a pool of them
 * @property {(shape: string, encoded: Buffer) => object} decode decodes a request
 * @property {(target: object) => { ready: () => Promise, call: (request: object) => Promise, close: () => void }} connect
 *   opens a connection, or starts to
 * @property {(error: Error) => { kind: number, status: number }} outcome classifies the error of a call
 *
 * @param {Library} library
 */
export async function run(library) {
  const path = process.env.RPCBENCH_SOCKET;
  if (!path) {
    console.error(`${library.name}: RPCBENCH_SOCKET is not set; rpcbench starts this program`);
    process.exit(1);
  }
  // As the first process of a container, this would ignore SIGTERM without a handler.
  process.once('SIGTERM', () => process.exit(0));
  if (process.env.RPCBENCH_RUNTIME_LOG) {
    const { logCollections } = await import('../runtime-log.js');
    logCollections(process.env.RPCBENCH_RUNTIME_LOG);
  }
  const stopAt = new BigInt64Array(new SharedArrayBuffer(8));
  const control = new Worker(new URL('control.js', import.meta.url), { workerData: { path, stopAt } });
  control.on('error', (error) => {
    console.error(`${library.name}: ${error.message}`);
    process.exit(1);
  });
  control.on('exit', () => process.exit(0));
  const program = new Program(library, control, stopAt);
  control.on('message', (message) => program.obey(message));
  program.greet();
}

class Program {
  constructor(library, control, stopAt) {
    this.library = library;
    this.control = control;
    this.stopAt = stopAt;
    this.records = new Records(control);
    this.load = undefined;
    this.isRunning = false;
  }

  greet() {
    const manifest = new URL(`../node_modules/${this.library.package}/package.json`, import.meta.url);
    this.control.postMessage({
      type: 'hello',
      version: 1,
      language: 'Node.js',
      library: this.library.name,
      library_version: JSON.parse(readFileSync(manifest)).version,
      runtime: `Node.js ${process.versions.node}`,
      checks: CHECKS,
      clock_ns: Number(process.hrtime.bigint()),
    });
  }

  async obey(message) {
    try {
      if (this.isRunning) {
        throw new Error('a load is running; stop it first');
      }
      switch (message.type) {
        case 'open':
          await this.open(message);
          break;
        case 'start':
          await this.start(message);
          break;
        case 'close':
          this.load?.close();
          this.load = undefined;
          break;
        default:
          throw new Error('unknown type; expected open, start, stop or close');
      }
    } catch (error) {
      this.control.postMessage({ type: 'failed', error: `${message.type}: ${error.message}` });
    }
  }

  async open(message) {
    if (this.load) {
      throw new Error('connections are open; close them first');
    }
    const load = new Load(this.library, message);
    try {
      await load.open();
    } catch (error) {
      load.close();
      throw error;
    }
    this.load = load;
    this.control.postMessage({ type: 'opened', connections: load.opened });
  }

  async start(message) {
    if (!this.load) {
      throw new Error("no connections are open; send 'open' first");
    }
    const run = new Run(this.load, message, this.stopAt, this.records);
    this.isRunning = true;
    const calls = await run.make();
    this.isRunning = false;
    this.records.flush();
    this.control.postMessage({ type: 'stopped', calls });
  }
}
