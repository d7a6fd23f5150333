#!/bin/sh
# Runs a Ruby server or client program in this process and in the build folder: run.sh BUILD_FOLDER PROGRAM [ARGUMENT...]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../settings.sh"
memory $((64 * RPCBENCH_CPUS)) Ruby

cd "$1"
shift
exec "$@"
