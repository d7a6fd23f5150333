<?php

declare(strict_types=1);

// gRPC's unary calls on FastCGI.

namespace Rpcbench;

use Google\Protobuf\Internal\CodedInputStream;
use Google\Protobuf\Internal\Message;

/** Statuses of gRPC. */
enum Code: int
{
    case Ok = 0;
    case ResourceExhausted = 8;
    case Unimplemented = 12;
    case Internal = 13;
}

/** Ends the call with a status other than OK. */
final class RpcError extends \Exception
{
    public function __construct(public readonly Code $status, string $message)
    {
        parent::__construct($message);
    }
}

/** The default of gRPC's libraries. */
const MAX_REQUEST_BYTES = 4 << 20;

/**
 * Returns the message in a body, which has a byte that is 1 if the message is compressed, the message's length, and the message.
 */
function unframe(string $body): string
{
    $frame = strlen($body) < 5 ? null : unpack('Ccompressed/Nlength', $body);
    if ($frame === null || $frame['length'] !== strlen($body) - 5) {
        throw new RpcError(Code::Internal, 'the body is not one message');
    }
    if ($frame['compressed'] !== 0) {
        throw new RpcError(Code::Unimplemented, 'compression is not supported');
    }
    if ($frame['length'] > MAX_REQUEST_BYTES) {
        throw new RpcError(Code::ResourceExhausted, 'the message is larger than ' . MAX_REQUEST_BYTES . ' bytes');
    }
    return substr($body, 5);
}

function frame(string $message): string
{
    return pack('CN', 0, strlen($message)) . $message;
}

/**
 * Decodes the bytes into the message, and returns it.
 *
 * mergeFromString accepts a message that ends inside a tag. The library refuses such nested messages, so this decodes as it does those.
 *
 * @template M of Message
 * @param M $message
 * @return M
 */
function decode(Message $message, string $bytes): Message
{
    try {
        $input = new CodedInputStream($bytes);
        $input->incrementRecursionDepthAndPushLimit(strlen($bytes), $outer, $depth);
        $message->parseFromStream($input);
        if (!$input->decrementRecursionDepthAndPopLimit($outer)) {
            throw new RpcError(Code::Internal, 'the message is truncated');
        }
    } catch (RpcError $error) {
        throw $error;
    } catch (\Exception $error) {
        throw new RpcError(Code::Internal, $error->getMessage());
    }
    return $message;
}

/**
 * Answers the request with what the handler returns for the method's path and the request's message.
 *
 * FastCGI has no trailers: nginx turns these headers into trailers.
 *
 * @param callable(string, string): Message $handler
 */
function serve(callable $handler): void
{
    if (!str_starts_with($_SERVER['CONTENT_TYPE'], 'application/grpc')) {
        http_response_code(415);
        return;
    }
    header('Content-Type: application/grpc');
    try {
        $reply = $handler($_SERVER['REQUEST_URI'], unframe(file_get_contents('php://input')));
        $body = frame($reply->serializeToString());
        header('Grpc-Status: ' . Code::Ok->value);
        echo $body;
    } catch (RpcError $error) {
        header('Grpc-Status: ' . $error->status->value);
        header('Grpc-Message: ' . rawurlencode($error->getMessage()));
    }
}
