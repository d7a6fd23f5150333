#!/bin/sh
# Becomes a Node server: run.sh BUILD_FOLDER [ARGUMENT...]
set -eu

fail() {
    echo "node: $1" >&2
    exit 1
}

# whole NAME VALUE LARGEST: ends the script unless the value is a whole number from 1 to LARGEST.
whole() {
    case "$2" in
        "" | *[!0-9]*) fail "$1='$2': must be a whole number" ;;
    esac
    [ "${#2}" -le 18 ] && [ "$2" -ge 1 ] && [ "$2" -le "$3" ] || fail "$1='$2': must be from 1 to $3"
}

build=$1
shift

[ -n "${RPCBENCH_HOST:-}" ] || fail "RPCBENCH_HOST is not set"
[ -n "${RPCBENCH_PORT:-}" ] || fail "RPCBENCH_PORT is not set"
[ -n "${RPCBENCH_CPUS:-}" ] || fail "RPCBENCH_CPUS is not set"
whole RPCBENCH_PORT "$RPCBENCH_PORT" 65535
whole RPCBENCH_CPUS "$RPCBENCH_CPUS" 65535

export NODE_ENV=production

# V8 would size its heap by the machine wherever the limit is not its own cgroup's. Three quarters of the memory for the old
# generation, shared by the workers, is what services in containers are given; the rest is for young objects, code and buffers.
if [ -n "${RPCBENCH_MEMORY:-}" ]; then
    whole RPCBENCH_MEMORY "$RPCBENCH_MEMORY" 999999999999999999
    mebibytes=$((RPCBENCH_MEMORY * 3 / 4 / RPCBENCH_CPUS / 1048576))
    [ "$mebibytes" -ge 32 ] || fail "RPCBENCH_MEMORY='$RPCBENCH_MEMORY': Node needs 43 MiB (45088768) or more for each CPU"
    set -- "--max-old-space-size=$mebibytes" "$build/server.js" "$@"
else
    set -- "$build/server.js" "$@"
fi
exec node "$@"
