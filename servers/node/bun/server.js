// The contract's service as JSON on Bun's HTTP server. The launcher has checked the settings in the environment.
import cluster from 'node:cluster';

import { ZodError } from 'zod';

import { methods } from './messages.js';
import { MAX_BODY, certificate } from './web.js';
import { serve } from './workers.js';

// How long calls in flight may take after SIGTERM.
const DRAIN_MILLISECONDS = 2000;

const route = (method) => ({
  async POST(request) {
    try {
      return Response.json(method(await request.json()));
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof ZodError) {
        return Response.json({ error: error.message }, { status: 400 });
      }
      throw error;
    }
  },
});

async function start(hostname, port) {
  const server = Bun.serve({
    hostname,
    port,
    reusePort: cluster.isWorker,
    tls: certificate(),
    // Connections may be idle indefinitely: the client decides how long they live.
    idleTimeout: 0,
    maxRequestBodySize: MAX_BODY,
    routes: Object.fromEntries(Object.entries(methods).map(([path, method]) => [path, route(method)])),
    fetch: () => Response.json({ error: 'not found' }, { status: 404 }),
    error(error) {
      console.error(error);
      return Response.json({ error: 'internal error' }, { status: 500 });
    },
  });
  return () => Promise.race([server.stop(), Bun.sleep(DRAIN_MILLISECONDS)]);
}

// Workers share the port, so they could also share it with another program.
function refusePortInUse() {
  const { RPCBENCH_HOST: hostname, RPCBENCH_PORT: port } = process.env;
  try {
    Bun.listen({ hostname, port: Number(port), socket: { data() {} } }).stop();
  } catch (error) {
    console.error(`node-bun: cannot listen on ${hostname}:${port}: ${error.code}`);
    process.exit(1);
  }
}

if (cluster.isPrimary) {
  refusePortInUse();
}
await serve('node-bun', start);
