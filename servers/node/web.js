// What the servers on node:http share: the longest request, and how they start and end.
import { once } from 'node:events';
import http from 'node:http';

// How long open connections may take to finish their calls after SIGTERM.
const DRAIN_MILLISECONDS = 2000;

/** How long a request may be, in bytes: twice the contract's longest text. */
export const MAX_BODY = 8 * 1024 * 1024;

/**
 * Serves HTTP/1.1, as `serve` of workers.js starts a server.
 *
 * @param {import('node:http').RequestListener} listener
 */
export function starting(listener) {
  return async (host, port) => {
    // Connections may be idle for as long as they like: the client decides how long they live.
    const server = http.createServer({ keepAliveTimeout: 0 }, listener);
    server.listen(port, host);
    await once(server, 'listening');
    return () =>
      new Promise((stopped) => {
        server.close(stopped);
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), DRAIN_MILLISECONDS);
      });
  };
}
