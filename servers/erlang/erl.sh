#!/bin/sh
# Runs Erlang's emulator in this process: erl.sh ARGUMENT...
#
# The installed one, or else the one that scripts/setup.sh unpacked, without its script, which expects it in /usr/lib/erlang.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
unpacked=$here/../../build/debian/usr/lib/erlang
if command -v erl >/dev/null; then
    export ERL_LIBS="$unpacked/lib"
    exec erl "$@"
fi
for programs in "$unpacked"/erts-*/bin; do
    export ROOTDIR="$unpacked" BINDIR="$programs" EMU=beam PROGNAME=erl
done
exec sh "$here/../debian.sh" "${BINDIR:-}/erlexec" "$@"
