// The contract's service as JSON on node:http2. The launcher has checked the settings in the environment.
import { listener } from './listener.js';
import { onHttp2 } from './web.js';
import { serve } from './workers.js';

await serve('node-http2', onHttp2(listener));
