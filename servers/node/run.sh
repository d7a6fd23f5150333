#!/bin/sh
# Runs a Node.js server or client program in this process: run.sh BUILD_FOLDER [ARGUMENT...]
set -eu

build=$1
shift

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../settings.sh"

export NODE_ENV=production

program=$build/server.js
[ -f "$program" ] || program=$build/client.js

# Without a cgroup limit V8 would size its heap by the machine. The old generation gets three quarters of the memory, divided by the
# workers, as is usual for services in containers. The rest is for young objects, code and buffers.
memory $((43 * RPCBENCH_CPUS)) Node.js
if [ -n "${RPCBENCH_MEMORY:-}" ]; then
    mebibytes=$((RPCBENCH_MEMORY * 3 / 4 / RPCBENCH_CPUS / 1048576))
    set -- "--max-old-space-size=$mebibytes" "$program" "$@"
else
    set -- "$program" "$@"
fi
exec node "$@"
