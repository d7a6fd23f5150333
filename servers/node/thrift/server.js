// The contract's Thrift service on Apache Thrift's library. The launcher has checked the settings in the environment.
import { once } from 'node:events';

import thrift from 'thrift';

import Echo from './generated/Echo.js';
import { DtoReply, RecordReply, TextReply, TreeReply } from './generated/echo_types.js';
import { certificate } from './web.js';
import { serve } from './workers.js';

// How long calls in flight may take after SIGTERM.
const DRAIN_MILLISECONDS = 2000;

const echo = {
  Text: (request, reply) => reply(null, new TextReply({ echo: request.text })),
  Record: (request, reply) => reply(null, new RecordReply({ echo: request.record })),
  Dto: (request, reply) => reply(null, new DtoReply({ echo: request.dto })),
  Tree: (request, reply) => reply(null, new TreeReply({ echo: request.tree })),
};

async function start(host, port) {
  const pair = certificate();
  // Without an option the library would not offer TLS 1.3.
  const tls = pair && { ...pair, secureOptions: 0 };
  const server = thrift.createServer(Echo, echo, {
    transport: thrift.TFramedTransport,
    protocol: thrift.TBinaryProtocol,
    tls,
  });
  server.on('connection', (socket) => socket.setNoDelay());
  server.listen(port, host);
  await once(server, 'listening');
  // Errors of a connection arrive here too. By then the library has closed it, and it serves the others.
  server.on('error', () => {});
  return () =>
    new Promise((stopped) => {
      server.close(stopped);
      setTimeout(stopped, DRAIN_MILLISECONDS);
    });
}

await serve('node-thrift', start);
