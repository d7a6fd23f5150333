// The contract's service as JSON on node:http. The launcher has checked the settings in the environment.
import { listener } from './listener.js';
import { onHttp1 } from './web.js';
import { serve } from './workers.js';

await serve('node-http', onHttp1(listener));
