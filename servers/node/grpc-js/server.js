// The contract's gRPC service on @grpc/grpc-js. The launcher has checked the settings in the environment.
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';

import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';

import { serve } from './workers.js';

// How long calls in flight may take after SIGTERM.
const DRAIN_MILLISECONDS = 2000;

// The contract is loaded at start, as in gRPC's guide and most services. protobufjs then compiles an encoder and a decoder per message,
// as fast as those generated ahead of time. The loader's defaults lose nothing: 64-bit integers are Long objects, enums numbers, bytes
// Buffers, and absent fields stay absent.
// package.json uses protobufjs 8 instead of the loader's 7, which truncates a string where it should refuse a truncated message.
const contract = protoLoader.loadSync(fileURLToPath(new URL('echo.proto', import.meta.url)));

const echo = {
  text: (call, reply) => reply(null, { echo: call.request.text }),
  record: (call, reply) => reply(null, { echo: call.request.record }),
  dto: (call, reply) => reply(null, { echo: call.request.dto }),
  tree: (call, reply) => reply(null, { echo: call.request.tree }),
};

// TLS if RPCBENCH_TLS_CERT is set. Clients need no certificate.
function credentials() {
  const { RPCBENCH_TLS_CERT: cert, RPCBENCH_TLS_KEY: key } = process.env;
  if (!cert) {
    return grpc.ServerCredentials.createInsecure();
  }
  return grpc.ServerCredentials.createSsl(null, [{ cert_chain: readFileSync(cert), private_key: readFileSync(key) }]);
}

async function start(host, port) {
  // The library's defaults: messages up to 4 MiB, any number of calls at a time on a connection, TCP_NODELAY.
  const server = new grpc.Server();
  server.addService(contract['rpcbench.v1.Echo'], echo);
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
  await promisify(server.bindAsync.bind(server))(address, credentials());
  return () =>
    new Promise((stopped) => {
      server.tryShutdown(stopped);
      setTimeout(() => {
        server.forceShutdown();
        stopped();
      }, DRAIN_MILLISECONDS);
    });
}

await serve('node-grpc-js', start);
