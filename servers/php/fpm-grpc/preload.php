<?php

declare(strict_types=1);

// Loads the messages and protobuf's library before php-fpm forks, so that requests need no autoloader.

$folders = [
    stream_resolve_include_path('GPBMetadata/Google/Protobuf'),
    stream_resolve_include_path('Google/Protobuf'),
    __DIR__ . '/messages',
];
foreach ($folders as $folder) {
    $files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS));
    foreach ($files as $file) {
        opcache_compile_file($file->getPathname());
    }
}
