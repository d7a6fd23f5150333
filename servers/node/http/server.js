// The contract's service as JSON on node:http. The launcher has checked the settings in the environment.
import { listener } from './listener.js';
import { starting } from './web.js';
import { serve } from './workers.js';

await serve('node-http', starting(listener));
