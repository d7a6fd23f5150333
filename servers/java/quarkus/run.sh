#!/bin/sh
# Runs the server in this process: run.sh BUILD_FOLDER
#
# The TLS settings are in a profile, since the path of a certificate can't be left empty.
set -eu

set -- "$1" quarkus-app/quarkus-run.jar -XX:+UseG1GC
[ -z "${RPCBENCH_TLS_CERT:-}" ] || set -- "$@" -Dquarkus.profile=prod,tls
exec sh "$(dirname "$0")/../run.sh" "$@"
