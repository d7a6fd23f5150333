// Calls the contract's service as Connect with @connectrpc/connect-node.
import { Agent } from 'node:http';

import { fromBinary } from '@bufbuild/protobuf';
import { Code, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';

import { run } from './driver/driver.js';
import { status, TIMEOUT, TRANSPORT, WRONG_ANSWER } from './driver/outcome.js';
import { Echo } from './echo_pb.js';

const CLOSING = { headers: { connection: 'close' } };

// The library's defaults, except that the pool has the load's size and keeps idle connections open, and that replies are not
// compressed, like those of other clients.
function connect({ address, method, connections, timeoutMillis, callsPerConnection }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections });
  const echo = createClient(
    Echo,
    createConnectTransport({
      baseUrl: `http://${address}`,
      httpVersion: '1.1',
      nodeOptions: { agent },
      acceptCompression: [],
      defaultTimeoutMs: timeoutMillis,
    }),
  );
  const unary = echo[method.toLowerCase()];
  let calls = 0;
  return {
    ready: async () => {},
    call: (request) => {
      calls += 1;
      return unary(request, callsPerConnection > 0 && calls % callsPerConnection === 0 ? CLOSING : undefined);
    },
    close: () => agent.destroy(),
  };
}

// Only errors from the server have header fields. A reply that is neither a message nor an error breaks the protocol.
function outcome(error) {
  if (error.code === Code.DeadlineExceeded) {
    return TIMEOUT;
  }
  if (error.metadata?.get('content-type')?.startsWith('application/json')) {
    return status(error.code);
  }
  return error.rawMessage?.startsWith('parse binary: ') ? WRONG_ANSWER : TRANSPORT;
}

await run({
  name: 'connect-es',
  package: '@connectrpc/connect-node',
  multiplexed: false,
  // Bytes in a reply are Uint8Arrays, which are never equal to a Buffer.
  decode: (shape, encoded) => fromBinary(Echo.method[shape].input, new Uint8Array(encoded)),
  connect,
  outcome,
});
