// The contract's Text method as gRPC by hand on Node's own HTTP/2 server, whose core is nghttp2.
// Argument: settings as JSON. Prints its port, and at the end of its input the number of calls it answered.
import http2 from 'node:http2';

const settings = JSON.parse(process.argv[2]);
const path = '/rpcbench.v1.Echo/Text';
let answered = 0;

// Request field 1 becomes reply field 2: only the tag differs.
function reply(body) {
  const message = Buffer.from(body);
  if (message.length > 5) message[5] = 0x12;
  return message;
}

const server = http2.createServer({ settings });
server.on('stream', (stream, headers) => {
  const pieces = [];
  stream.on('error', () => {});
  stream.on('data', (piece) => pieces.push(piece));
  stream.on('end', () => {
    const right = headers[':path'] === path && headers[':method'] === 'POST'
      && headers['content-type'] === 'application/grpc' && headers.te === 'trailers';
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': right ? '0' : '3' }));
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.end(reply(Buffer.concat(pieces)));
    answered += 1;
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

process.stdin.resume();
process.stdin.on('end', () => {
  console.log(answered);
  process.exit(0);
});
