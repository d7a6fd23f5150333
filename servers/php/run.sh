#!/bin/bash
# Runs a PHP server, php-fpm behind nginx, until SIGTERM: run.sh BUILD_FOLDER
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../settings.sh"

PATH=$PATH:/usr/sbin # where the distribution has nginx and php-fpm
app=$1/app
fpm=php-fpm$(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Four processes for each CPU, so that one is ready while others write; a pool of fixed size, as PHP's manual has it where the
# memory is the service's own.
children=$((RPCBENCH_CPUS * 4))
limit=
if [ -n "${RPCBENCH_MEMORY:-}" ]; then
    memory $((16 * children)) "PHP with $children processes"
    limit="php_admin_value[memory_limit] = $((RPCBENCH_MEMORY / children))"
fi

# An IPv6 address stands in brackets before a port.
case "$RPCBENCH_HOST" in
    *:*) address="[$RPCBENCH_HOST]:$RPCBENCH_PORT" ;;
    *) address=$RPCBENCH_HOST:$RPCBENCH_PORT ;;
esac

# nginx by itself would try a port in use again for seconds.
php -r 'if (!@stream_socket_server("tcp://$argv[1]", $code, $reason)) { fwrite(STDERR, "php: cannot listen on $argv[1]: $reason\n"); exit(1); }' \
    "$address"

# Clients may come by the thousand, and each has two files here.
ulimit -n "$(ulimit -Hn)"

# settled NAME: a configuration with the settings in the place of their names.
settled() {
    sed "s|@app@|$app|g; s|@folder@|$folder|g; s|@cpus@|$RPCBENCH_CPUS|; s|@children@|$children|; s|@memory@|$limit|; s|@address@|$address|" \
        "$app/$1" >"$folder/$1"
}
settled fpm.conf
settled nginx.conf

root=()
if [ "$(id -u)" = 0 ]; then
    root=(--allow-to-run-as-root)
    echo 'user root;' >>"$folder/nginx.conf" # the folder of the sources may be nobody else's
fi

"$fpm" --nodaemonize --fpm-config "$folder/fpm.conf" "${root[@]}" &
nginx -e stderr -p "$folder" -c "$folder/nginx.conf" &
servers=$(jobs -p)

stopping=
# Open calls are finished, but for two seconds at most.
stop() {
    stopping=yes
    kill -QUIT $servers 2>/dev/null || true
    (sleep 2; kill -TERM $servers 2>/dev/null || true) &
    ending=$!
}
trap stop TERM

# Without one of the two there is no server.
wait -n $servers || true
if [ -z "$stopping" ]; then
    echo "php: nginx or php-fpm has ended" >&2
    kill -TERM $servers 2>/dev/null || true
    wait $servers || true
    exit 1
fi
wait $servers || true
kill "$ending" 2>/dev/null || true
