// The contract's service as JSON on Fastify. The launcher has checked the settings in the environment.
import Fastify from 'fastify';

import { keywords, schemas } from './schemas.js';
import { certificate, MAX_BODY } from './web.js';
import { serve } from './workers.js';

async function start(host, port) {
  const app = Fastify({
    bodyLimit: MAX_BODY,
    https: certificate() ?? null,
    // Values of a wrong type are refused; the default converts them.
    ajv: { customOptions: { coerceTypes: false, keywords } },
  });
  app.post('/rpcbench.v1.Echo/Text', { schema: schemas.text }, async ({ body }) => ({ echo: body.text }));
  app.post('/rpcbench.v1.Echo/Record', { schema: schemas.record }, async ({ body }) => ({ echo: body.record }));
  app.post('/rpcbench.v1.Echo/Dto', { schema: schemas.dto }, async ({ body }) => ({ echo: body.dto }));
  app.post('/rpcbench.v1.Echo/Tree', { schema: schemas.tree }, async ({ body }) => ({
    echo: { ...body.tree, digest: body.tree.digest.toString('base64') },
  }));
  // Connections may be idle indefinitely, also before their first request: the client decides how long they live. Not set as options,
  // where 0 means the default. By default Fastify has no time limit for requests.
  app.server.keepAliveTimeout = 0;
  app.server.headersTimeout = 0;
  await app.listen({ host, port });
  return () => app.close();
}

await serve('node-fastify', start);
