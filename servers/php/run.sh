#!/bin/bash
# Runs a PHP server, php-fpm behind nginx, until SIGTERM: run.sh BUILD_FOLDER [ARGUMENT OF PHP-FPM...]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../settings.sh"

app=$1/app
shift

# Four processes per CPU, so that one is ready while others write; a pool of fixed size, as PHP's manual recommends if the memory belongs
# to the service.
export FPM_CHILDREN=$((RPCBENCH_CPUS * 4)) FPM_MEMORY_LIMIT=-1
if [ -n "${RPCBENCH_MEMORY:-}" ]; then
    memory $((16 * FPM_CHILDREN)) "PHP with $FPM_CHILDREN processes"
    FPM_MEMORY_LIMIT=$((RPCBENCH_MEMORY / FPM_CHILDREN))
fi

# If started by root, only root may access the source folder.
if [ "$(id -u)" = 0 ]; then set -- "$@" --allow-to-run-as-root; fi

if [ -e "$app/preload.php" ]; then
    set -- "$@" -d "opcache.preload=$app/preload.php" -d "opcache.preload_user=$(id -un)"
fi

exec bash "$here/../nginx/run.sh" "$app/location.conf" \
    sh "$here/fpm.sh" --nodaemonize --fpm-config "$app/fpm.conf" "$@"
