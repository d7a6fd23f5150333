#!/bin/sh
# Becomes a Ruby server: run.sh BUILD_FOLDER PROGRAM [ARGUMENT...], run in the build folder.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../settings.sh"
memory $((64 * RPCBENCH_CPUS)) Ruby

cd "$1"
shift
exec "$@"
