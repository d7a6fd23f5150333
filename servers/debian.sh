#!/bin/sh
# Runs a program of one of Debian's packages in this process: debian.sh PROGRAM [ARGUMENT...]
#
# The installed one, or else the one that scripts/setup.sh unpacked into build/debian, since installing the package would start a
# service.
set -eu

program=$1
shift
PATH=$PATH:/usr/sbin # Debian's folder of services, which not every PATH has
unpacked=$(cd "$(dirname "$0")/.." && pwd)/build/debian
if [ -d "$unpacked" ]; then
    PATH=$PATH:$unpacked/usr/sbin:$unpacked/usr/bin
    for libraries in "$unpacked"/lib/*-linux-gnu "$unpacked"/usr/lib/*-linux-gnu; do
        [ ! -d "$libraries" ] || LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$libraries
    done
    [ -z "${LD_LIBRARY_PATH:-}" ] || export LD_LIBRARY_PATH
fi
exec "$program" "$@"
