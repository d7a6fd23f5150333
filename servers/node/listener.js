// The contract's service as JSON, without a framework.
import { ZodError } from 'zod';

import { methods } from './messages.js';
import { MAX_BODY } from './web.js';

function send(response, status, value) {
  const body = JSON.stringify(value);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

function answer(method, body, response) {
  let reply;
  try {
    reply = method(JSON.parse(body));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ZodError) {
      send(response, 400, { error: error.message });
    } else {
      console.error(error);
      send(response, 500, { error: 'internal error' });
    }
    return;
  }
  send(response, 200, reply);
}

/**
 * Answers a request of node:http or node:http2.
 *
 * @type {import('node:http').RequestListener}
 */
export function listener(request, response) {
  const method = Object.hasOwn(methods, request.url) && methods[request.url];
  if (!method) {
    send(response, 404, { error: 'not found' });
    return;
  }
  if (request.method !== 'POST') {
    send(response, 405, { error: 'method not allowed' });
    return;
  }
  const chunks = [];
  let length = 0;
  request.on('data', (chunk) => {
    length += chunk.length;
    if (length <= MAX_BODY) {
      chunks.push(chunk);
    }
  });
  request.on('end', () => {
    if (length > MAX_BODY) {
      send(response, 413, { error: 'request too long' });
    } else {
      answer(method, Buffer.concat(chunks).toString(), response);
    }
  });
}
