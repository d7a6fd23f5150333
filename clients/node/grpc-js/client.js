// Calls the contract's service with @grpc/grpc-js.
import { fileURLToPath } from 'node:url';

import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

import { run } from './driver/driver.js';
import { status, TIMEOUT, TRANSPORT, WRONG_ANSWER } from './driver/outcome.js';

const OPEN_MILLIS = 10_000;

// The contract is loaded at start, as in gRPC's guide, with the loader's defaults; protobufjs is 8 instead of the loader's 7, as for the
// server.
const contract = protoLoader.loadSync(fileURLToPath(new URL('echo.proto', import.meta.url)));
const service = contract['rpcbench.v1.Echo'];
const Echo = grpc.makeGenericClientConstructor(service, 'Echo');

// The library's defaults, without retries, and with a connection per channel: by default, channels to the same target share one.
const OPTIONS = { 'grpc.enable_retries': 0, 'grpc.use_local_subchannel_pool': 1 };

function connect({ address, method, timeoutMillis }) {
  const client = new Echo(address, grpc.credentials.createInsecure(), OPTIONS);
  return {
    ready: () =>
      new Promise((resolve, reject) => {
        client.waitForReady(Date.now() + OPEN_MILLIS, (error) => (error ? reject(error) : resolve()));
      }),
    call: (request) =>
      new Promise((resolve, reject) => {
        const options = { deadline: Date.now() + timeoutMillis };
        client[method](request, options, (error, reply) => (error ? reject(error) : resolve(reply)));
      }),
    close: () => client.close(),
  };
}

// UNAVAILABLE may be the library's or the server's.
function outcome(error) {
  if (error.code === grpc.status.DEADLINE_EXCEEDED) {
    return TIMEOUT;
  }
  if (error.details?.startsWith('Response message parsing error')) {
    return WRONG_ANSWER;
  }
  // The library's errors for resets and closed connections.
  if (error.code === grpc.status.UNAVAILABLE || error.details?.startsWith('Received RST_STREAM')) {
    return TRANSPORT;
  }
  return error.code === undefined ? WRONG_ANSWER : status(error.code);
}

await run({
  name: '@grpc/grpc-js',
  package: '@grpc/grpc-js',
  multiplexed: true,
  decode: (shape, encoded) => service[shape[0].toUpperCase() + shape.slice(1)].requestDeserialize(encoded),
  connect,
  outcome,
});
