// Calls the contract's service as JSON with undici.
import { errors, Pool } from 'undici';

import { run } from './driver/driver.js';
import { status, TIMEOUT, TRANSPORT, WRONG_ANSWER } from './driver/outcome.js';

// By default idle connections close after 4 s.
const IDLE_MILLIS = 3_600_000;

class StatusError extends Error {
  constructor(code) {
    super(`HTTP status ${code}`);
    this.code = code;
  }
}

// The library's defaults, without pipelining, except that the pool has the load's size and keeps idle connections open.
function connect({ address, method, connections, timeoutMillis, callsPerConnection }) {
  const pool = new Pool(`http://${address}`, {
    connections,
    keepAliveTimeout: IDLE_MILLIS,
    keepAliveMaxTimeout: IDLE_MILLIS,
    headersTimeout: timeoutMillis,
    bodyTimeout: timeoutMillis,
    connect: { timeout: timeoutMillis },
  });
  const options = { path: `/rpcbench.v1.Echo/${method}`, method: 'POST', headers: { 'content-type': 'application/json' } };
  let calls = 0;
  return {
    ready: async () => {},
    call: async (request) => {
      calls += 1;
      const reset = callsPerConnection > 0 && calls % callsPerConnection === 0;
      const { statusCode, body } = await pool.request({ ...options, reset, body: JSON.stringify(request) });
      if (statusCode !== 200) {
        await body.dump();
        throw new StatusError(statusCode);
      }
      return body.json();
    },
    close: () => pool.destroy(),
  };
}

const TIMEOUTS = [errors.HeadersTimeoutError, errors.BodyTimeoutError, errors.ConnectTimeoutError];

function outcome(error) {
  if (error instanceof StatusError) {
    return status(error.code);
  }
  if (TIMEOUTS.some((kind) => error instanceof kind)) {
    return TIMEOUT;
  }
  return error instanceof SyntaxError || error instanceof TypeError ? WRONG_ANSWER : TRANSPORT;
}

await run({
  name: 'undici',
  package: 'undici',
  multiplexed: false,
  decode: (_, encoded) => JSON.parse(encoded),
  connect,
  outcome,
});
