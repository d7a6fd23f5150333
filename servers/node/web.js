// Shared by the servers on node:http and node:http2: maximum size of requests, certificate, start and shutdown.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';

// How long calls in flight may take after SIGTERM.
const DRAIN_MILLISECONDS = 2000;

/** Maximum size of a request in bytes: twice the contract's longest text. */
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
 * Returns a `start` for `serve` of workers.js, with a server for HTTP/1.1.
 *
 * @param {import('node:http').RequestListener} listener
 */
export function onHttp1(listener) {
  return async (host, port) => {
    // Connections may be idle indefinitely, also before their first request: the client decides how long they live.
    const timeouts = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };
    const tls = certificate();
    const server = tls ? https.createServer({ ...timeouts, ...tls }, listener) : http.createServer(timeouts, listener);
    await listen(server, host, port);
    return () => stop(server, () => server.closeIdleConnections());
  };
}

/**
 * Returns a `start` for `serve` of workers.js, with a server for HTTP/2, without TLS by prior knowledge.
 *
 * @param {import('node:http').RequestListener} listener
 */
export function onHttp2(listener) {
  return async (host, port) => {
    const tls = certificate();
    const server = tls ? http2.createSecureServer(tls, listener) : http2.createServer(listener);
    const sessions = new Set();
    server.on('session', (session) => {
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
    });
    await listen(server, host, port);
    return () => stop(server, () => sessions.forEach((session) => session.close()));
  };
}

async function listen(server, host, port) {
  server.listen(port, host);
  await once(server, 'listening');
}

// Afterwards the process exits, even if connections are still open.
function stop(server, closeIdle) {
  return new Promise((stopped) => {
    server.close(stopped);
    closeIdle();
    setTimeout(stopped, DRAIN_MILLISECONDS);
  });
}
