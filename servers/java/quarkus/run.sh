#!/bin/sh
# Becomes the server: run.sh BUILD_FOLDER
#
# Quarkus's settings of TLS are in a profile, since a certificate's path can't be left empty.
set -eu

set -- "$1" quarkus-app/quarkus-run.jar -XX:+UseG1GC
[ -z "${RPCBENCH_TLS_CERT:-}" ] || set -- "$@" -Dquarkus.profile=prod,tls
exec sh "$(dirname "$0")/../run.sh" "$@"
