#!/bin/bash
# Runs an Erlang server in this process: run.sh BUILD_FOLDER [FLAG...]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../settings.sh"
memory $((64 + 16 * RPCBENCH_CPUS)) Erlang

release=$1/release
shift
# Each connection takes a file descriptor.
ulimit -n "$(ulimit -Hn)"
# Write no crash dumps.
export ERL_CRASH_DUMP_SECONDS=0
# A scheduler per CPU for Erlang code, and one for CPU-bound native code. Not distributed, so without epmd.
exec sh "$here/erl.sh" +S "$RPCBENCH_CPUS:$RPCBENCH_CPUS" +SDcpu "$RPCBENCH_CPUS:$RPCBENCH_CPUS" "$@" \
    -noinput -mode embedded -boot "$release/echo" -config "$release/sys" -start_epmd false
