// Shared by the servers on node:http and node:http2: the longest request, start and shutdown.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';

// How long open connections may take to finish their calls after SIGTERM.
const DRAIN_MILLISECONDS = 2000;

/** Longest request in bytes: twice the contract's longest text. */
export const MAX_BODY = 8 * 1024 * 1024;

/**
 * Certificate and key of a server with TLS, both in PEM. Undefined without RPCBENCH_TLS_CERT.
 *
 * @returns {{ cert: Buffer, key: Buffer } | undefined}
 */
export function certificate() {
  const { RPCBENCH_TLS_CERT: cert, RPCBENCH_TLS_KEY: key } = process.env;
  return cert && { cert: readFileSync(cert), key: readFileSync(key) };
}

/**
 * Serves HTTP/1.1, as `serve` of workers.js starts a server.
 *
 * @param {import('node:http').RequestListener} listener
 */
export function starting(listener) {
  return async (host, port) => {
    // Connections may be idle indefinitely, also before their first request: the client decides how long they live.
    const timeouts = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };
    const tls = certificate();
    const server = tls ? https.createServer({ ...timeouts, ...tls }, listener) : http.createServer(timeouts, listener);
    await listening(server, host, port);
    return () => stop(server, () => server.closeIdleConnections());
  };
}

/**
 * Serves HTTP/2, without TLS by prior knowledge, as `serve` of workers.js starts a server.
 *
 * @param {import('node:http').RequestListener} listener
 */
export function startingHttp2(listener) {
  return async (host, port) => {
    const tls = certificate();
    const server = tls ? http2.createSecureServer(tls, listener) : http2.createServer(listener);
    const sessions = new Set();
    server.on('session', (session) => {
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
    });
    await listening(server, host, port);
    return () => stop(server, () => sessions.forEach((session) => session.close()));
  };
}

async function listening(server, host, port) {
  server.listen(port, host);
  await once(server, 'listening');
}

// The process exits afterwards, with anything still open.
function stop(server, closeIdle) {
  return new Promise((stopped) => {
    server.close(stopped);
    closeIdle();
    setTimeout(stopped, DRAIN_MILLISECONDS);
  });
}
