#!/bin/bash
# Runs nginx in front of another server until SIGTERM: run.sh LOCATION PROGRAM [ARGUMENT...]
#
# The program listens on the Unix socket BACKEND_SOCKET, which it is told. LOCATION is a file that tells nginx how to reach it, with
# @socket@ in its place.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../settings.sh"

location=$1
shift
PATH=$PATH:/usr/sbin # where the distribution has nginx
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BACKEND_SOCKET=$folder/backend.sock

# An IPv6 address stands in brackets before a port.
case "$RPCBENCH_HOST" in
    *:*) address="[$RPCBENCH_HOST]:$RPCBENCH_PORT" ;;
    *) address=$RPCBENCH_HOST:$RPCBENCH_PORT ;;
esac

# nginx by itself would try a port in use again for seconds. Whoever listens there answers.
if (exec 3<>"/dev/tcp/$RPCBENCH_HOST/$RPCBENCH_PORT") 2>/dev/null; then
    fail "cannot listen on $address: the port is in use"
fi

# Clients may come by the thousand, and each has two files here.
ulimit -n "$(ulimit -Hn)"

sed "s|@socket@|$BACKEND_SOCKET|" "$location" >"$folder/location.conf"
sed "s|@folder@|$folder|g; s|@cpus@|$RPCBENCH_CPUS|; s|@address@|$address|" "$here/nginx.conf" >"$folder/nginx.conf"
if [ "$(id -u)" = 0 ]; then
    echo 'user root;' >>"$folder/nginx.conf" # the socket may be nobody else's
fi

"$@" &
backend=$!
nginx -e stderr -p "$folder" -c "$folder/nginx.conf" &
nginx=$!

ending=
# Open calls are finished, but for two seconds at most.
stop() {
    kill -QUIT "$nginx" 2>/dev/null || true
    (sleep 2; kill -TERM "$nginx" 2>/dev/null || true) &
    ending=$!
}
trap stop TERM

# Without one of the two there is no server.
wait -n "$backend" "$nginx" || true
if [ -n "$ending" ]; then
    wait "$nginx" || true
    kill "$ending" 2>/dev/null || true
fi
kill -TERM "$nginx" "$backend" 2>/dev/null || true
wait "$nginx" "$backend" || true
[ -n "$ending" ] || fail "nginx or what is behind it has ended"
