// The contract's service on Connect, whose port speaks gRPC, Connect and JSON. The launcher has checked the settings in the
// environment.
import { connectNodeAdapter } from '@connectrpc/connect-node';

import { Echo } from './echo_pb.js';
import { onHttp1, onHttp2 } from './web.js';
import { serve } from './workers.js';

const listener = connectNodeAdapter({
  routes: (router) =>
    router.service(Echo, {
      text: ({ text }) => ({ echo: text }),
      record: ({ record }) => ({ echo: record }),
      dto: ({ dto }) => ({ echo: dto }),
      tree: ({ tree }) => ({ echo: tree }),
    }),
});

// Without TLS a port of Node.js speaks one version of HTTP.
const start = ['grpc', 'json-h2c'].includes(process.env.RPCBENCH_PROTOCOL) ? onHttp2 : onHttp1;

await serve('node-connect', start(listener));
