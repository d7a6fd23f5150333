#!/bin/sh
# Runs a server on Bun in this process: run.sh BUILD_FOLDER
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../settings.sh"

# npm's packages have the program in a folder per platform.
case $(uname -m) in
    x86_64) platform=x64 ;;
    aarch64) platform=aarch64 ;;
    *) fail "Bun has no package for $(uname -m)" ;;
esac

export NODE_ENV=production

# JavaScriptCore would size its heap by the memory of the machine; each process gets its part of the limit.
memory $((64 * RPCBENCH_CPUS)) Bun
if [ -n "${RPCBENCH_MEMORY:-}" ]; then
    export BUN_JSC_forceRAMSize=$((RPCBENCH_MEMORY / RPCBENCH_CPUS))
fi
exec "$1/node_modules/@oven/bun-linux-$platform/bin/bun" "$1/server.js"
