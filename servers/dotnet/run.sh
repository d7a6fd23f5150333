#!/bin/sh
# Runs a .NET server or client program in this process: run.sh BUILD_FOLDER
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../settings.sh"

# Sizes the thread pool, Kestrel's queues and the collector. The runtime's variables are hexadecimal.
DOTNET_PROCESSOR_COUNT=$(printf '%x' "$RPCBENCH_CPUS")
export DOTNET_PROCESSOR_COUNT

# 75 % of the memory for the heap: the runtime's default under a container's limit, set here because there may be no cgroup.
memory 64 .NET
if [ -n "${RPCBENCH_MEMORY:-}" ]; then
    DOTNET_GCHeapHardLimit=$(printf '%x' $((RPCBENCH_MEMORY * 3 / 4)))
    export DOTNET_GCHeapHardLimit
fi

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
# Machine code includes the runtime.
if [ -x "$1/app/server" ]; then
    exec "$1/app/server"
fi
program=$1/app/server.dll
[ -f "$program" ] || program=$1/app/client.dll
exec dotnet "$program"
