// The contract's service as JSON on Express. The launcher has checked the settings in the environment.
import express from 'express';
import { ZodError } from 'zod';

import { methods } from './messages.js';
import { MAX_BODY, onHttp1 } from './web.js';
import { serve } from './workers.js';

const app = express();
app.disable('x-powered-by');
app.use(express.json({ limit: MAX_BODY }));

for (const [path, method] of Object.entries(methods)) {
  app.post(path, (request, response) => {
    response.json(method(request.body));
  });
}

app.use((_request, response) => {
  response.status(404).json({ error: 'not found' });
});

// Express recognises an error handler by its four parameters. Errors from Express's middleware have a status.
app.use((error, _request, response, _next) => {
  const status = error instanceof ZodError ? 400 : (error.status ?? 500);
  if (status >= 500) {
    console.error(error);
  }
  response.status(status).json({ error: status >= 500 ? 'internal error' : error.message });
});

await serve('node-express', onHttp1(app));
