// The contract's service on LIBRARY. The launcher has checked the settings in the environment.
import { serve } from './workers.js';

await serve('node-LIBRARY', async (_host, _port) => {
  throw new Error('not written yet: server.js must answer the four calls of contract/README.md here');
});
