import { OK, WRONG_ANSWER } from './outcome.js';
import { readRequests, Request } from './requests.js';

/** A connection, or a pool. Opens another line after a number of calls. */
class Connection {
  constructor(library, target) {
    this.library = library;
    this.target = target;
    this.limit = library.multiplexed ? target.callsPerConnection : 0;
    this.line = undefined;
  }

  open() {
    this.line = { client: this.library.connect(this.target), calls: 0, inFlight: 0 };
    return this.line.client;
  }

  /** Returns the line for the next call, and opens one if needed. */
  take() {
    if (!this.line) {
      this.open();
    }
    const { line } = this;
    line.calls += 1;
    line.inFlight += 1;
    if (line.calls === this.limit) {
      this.line = undefined;
    }
    return line;
  }

  /** Ends a call. A line that gets no more calls is closed after its last one. */
  give(line) {
    line.inFlight -= 1;
    if (line !== this.line && line.inFlight === 0) {
      line.client.close();
    }
  }

  close() {
    this.line?.client.close();
    this.line = undefined;
  }
}

/** Makes calls one at a time, with its requests in turn. */
class Slot {
  constructor(number, connection, requests, library) {
    this.number = number;
    this.connection = connection;
    this.requests = requests;
    this.next = 0;
    this.library = library;
  }

  async call() {
    const request = this.requests[this.next];
    this.next = (this.next + 1) % this.requests.length;
    request.patch();
    const line = this.connection.take();
    try {
      const reply = await line.client.call(request.message);
      return request.isAnsweredBy(reply) ? OK : WRONG_ANSWER;
    } catch (error) {
      return this.library.outcome(error);
    } finally {
      this.connection.give(line);
    }
  }
}

/** The connections and encoded requests between `open` and `close`. */
export class Load {
  constructor(library, message) {
    const { connections, in_flight: inFlight, timeout_ns: timeoutNs } = message;
    if (!(connections >= 1 && inFlight >= 1 && timeoutNs >= 1)) {
      throw new Error('connections, in_flight and timeout_ns must be 1 or more');
    }
    if (!library.multiplexed && inFlight > 1) {
      throw new Error(`in_flight is ${inFlight}, but a connection of ${library.name} makes one call at a time`);
    }
    this.library = library;
    this.shape = message.shape;
    this.requests = readRequests(message.requests);
    const target = {
      address: message.target,
      method: this.shape[0].toUpperCase() + this.shape.slice(1),
      connections,
      timeoutMillis: timeoutNs / 1e6,
      callsPerConnection: message.calls_per_connection ?? 0,
    };
    const number = library.multiplexed ? connections : 1;
    this.connections = Array.from({ length: number }, () => new Connection(library, target));
    this.slots = this.newSlots(connections * inFlight);
  }

  /** Divides the requests among slots. With fewer requests than slots, several slots decode the same one. */
  newSlots(number) {
    return Array.from({ length: number }, (_, slot) => {
      const requests = [];
      for (let i = slot % this.requests.length; i < this.requests.length; i += number) {
        requests.push(new Request(this.shape, this.library.decode(this.shape, this.requests[i])));
      }
      return new Slot(slot, this.connections[slot % this.connections.length], requests, this.library);
    });
  }

  /** The number of open connections; 0 if a pool opens them with its first calls. */
  get opened() {
    return this.library.multiplexed ? this.connections.length : 0;
  }

  async open() {
    await Promise.all(this.connections.map((connection) => connection.open().ready()));
  }

  close() {
    for (const connection of this.connections) {
      connection.close();
    }
  }
}
