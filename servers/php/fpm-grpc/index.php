<?php

declare(strict_types=1);

// The contract's service as gRPC on php-fpm.

namespace Rpcbench;

use Google\Protobuf\Internal\Message;
use Rpcbench\V1\DtoReply;
use Rpcbench\V1\DtoRequest;
use Rpcbench\V1\RecordReply;
use Rpcbench\V1\RecordRequest;
use Rpcbench\V1\TextReply;
use Rpcbench\V1\TextRequest;
use Rpcbench\V1\TreeReply;
use Rpcbench\V1\TreeRequest;

require __DIR__ . '/grpc.php';

function reply(string $method, string $request): Message
{
    return match ($method) {
        '/rpcbench.v1.Echo/Text' => (new TextReply())->setEcho(decode(new TextRequest(), $request)->getText()),
        '/rpcbench.v1.Echo/Record' => (new RecordReply())->setEcho(decode(new RecordRequest(), $request)->getRecord()),
        '/rpcbench.v1.Echo/Dto' => (new DtoReply())->setEcho(decode(new DtoRequest(), $request)->getDto()),
        '/rpcbench.v1.Echo/Tree' => (new TreeReply())->setEcho(decode(new TreeRequest(), $request)->getTree()),
        default => throw new RpcError(Code::Unimplemented, "unknown method $method"),
    };
}

serve(reply(...));
