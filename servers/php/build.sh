#!/bin/sh
# Builds the PHP server in the current folder into RPCBENCH_BUILD_DIR: its sources, and packages.lock with the versions of the
# distribution's packages.
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"

build=$RPCBENCH_BUILD_DIR
rm -rf "$build/app"
mkdir "$build/app"
cp ./*.php ./*.conf "$build/app"
sed "s|@app@|$build/app|" location.conf >"$build/app/location.conf"
for file in "$build"/app/*.php; do
    php --syntax-check "$file" >/dev/null
done
{
    php -r 'echo "php ", PHP_VERSION, "\n";'
    sh ../../debian.sh nginx -v 2>&1 | sed -n 's/.*nginx\/\([0-9.]*\).*/nginx \1/p'
} >"$build/packages.lock"
