#!/bin/bash
# Runs nginx in front of another server until SIGTERM: run.sh LOCATION PROGRAM [ARGUMENT...]
#
# The program listens on the Unix socket that BACKEND_SOCKET names. LOCATION is a file with nginx's configuration for that socket, which it
# calls @socket@.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../settings.sh"

location=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BACKEND_SOCKET=$folder/backend.sock

# An IPv6 address is bracketed before a port.
case "$RPCBENCH_HOST" in
    *:*) address="[$RPCBENCH_HOST]:$RPCBENCH_PORT" ;;
    *) address=$RPCBENCH_HOST:$RPCBENCH_PORT ;;
esac

# By default nginx retries a port in use for seconds. Check first whether anything listens there.
if (exec 3<>"/dev/tcp/$RPCBENCH_HOST/$RPCBENCH_PORT") 2>/dev/null; then
    fail "cannot listen on $address: the port is in use"
fi

# Without TLS, nginx before 1.25.1 speaks only one version of HTTP on a port.
case "${RPCBENCH_PROTOCOL:-json}" in
    grpc | json-h2c) http2=" http2" ;;
    *) http2= ;;
esac

# nginx's defaults since 1.23.4, and the session cache that its documentation recommends.
tls=
: >"$folder/tls.conf"
if [ -n "${RPCBENCH_TLS_CERT:-}" ]; then
    tls=" ssl"
    cat >"$folder/tls.conf" <<END
ssl_certificate $RPCBENCH_TLS_CERT;
ssl_certificate_key $RPCBENCH_TLS_KEY;
ssl_protocols TLSv1.2 TLSv1.3;
ssl_session_cache shared:sessions:10m;
END
fi

# Thousands of clients may connect, and each takes two file descriptors.
ulimit -n "$(ulimit -Hn)"

sed "s|@socket@|$BACKEND_SOCKET|" "$location" >"$folder/location.conf"
sed "s|@folder@|$folder|g; s|@cpus@|$RPCBENCH_CPUS|; s|@address@|$address|; s|@tls@|$tls|; s|@http2@|$http2|" "$here/nginx.conf" >"$folder/nginx.conf"
if [ "$(id -u)" = 0 ]; then
    echo 'user root;' >>"$folder/nginx.conf" # only root may access the socket
fi

"$@" &
backend=$!
sh "$here/../debian.sh" nginx -e stderr -p "$folder" -c "$folder/nginx.conf" &
nginx=$!

stop_timer=
# Calls in flight may finish within two seconds.
stop() {
    kill -QUIT "$nginx" 2>/dev/null || true
    (sleep 2; kill -TERM "$nginx" 2>/dev/null || true) &
    stop_timer=$!
}
trap stop TERM

# Both must keep running.
wait -n "$backend" "$nginx" || true
if [ -n "$stop_timer" ]; then
    wait "$nginx" || true
    kill "$stop_timer" 2>/dev/null || true
fi
kill -TERM "$nginx" "$backend" 2>/dev/null || true
wait "$nginx" "$backend" || true
[ -n "$stop_timer" ] || fail "nginx or the server behind it has ended"
