<?php

declare(strict_types=1);

// The contract's service as JSON on php-fpm.

namespace Rpcbench;

require __DIR__ . '/messages.php';

function send(int $status, mixed $body): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($body, JSON_THROW_ON_ERROR);
}

function answer(string $method, string $body): void
{
    $request = json_decode($body, associative: true, flags: JSON_THROW_ON_ERROR);
    $echo = match ($method) {
        'Text' => TextRequest::decode($request)->text,
        'Record' => RecordRequest::decode($request)->record,
        'Dto' => DtoRequest::decode($request)->dto,
        'Tree' => TreeRequest::decode($request)->tree,
    };
    send(200, ['echo' => $echo]);
}

[, $service, $method] = explode('/', $_SERVER['REQUEST_URI'], 3) + ['', '', ''];
if ($service !== 'rpcbench.v1.Echo' || !in_array($method, ['Text', 'Record', 'Dto', 'Tree'], true)) {
    send(404, ['error' => 'not found']);
} elseif ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    send(405, ['error' => 'method not allowed']);
} else {
    try {
        answer($method, file_get_contents('php://input'));
    } catch (\JsonException | Invalid $error) {
        send(400, ['error' => $error->getMessage()]);
    }
}
