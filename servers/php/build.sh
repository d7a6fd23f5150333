#!/bin/sh
# Builds the PHP server in the current folder into RPCBENCH_BUILD_DIR: its sources, and packages.lock with the versions of the
# distribution's packages.
#
#   build.sh             no generated code
#   build.sh protobuf    with the messages of contract/echo.proto
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.proto}"

build=$RPCBENCH_BUILD_DIR
rm -rf "$build/app"
mkdir "$build/app"
cp ./*.php ./*.conf ../fpm.conf "$build/app"
if [ "${1:-}" = protobuf ]; then
    mkdir "$build/app/messages"
    protoc --proto_path="$RPCBENCH_CONTRACT" --php_out="$build/app/messages" echo.proto
fi
sed "s|@app@|$build/app|" location.conf >"$build/app/location.conf"
for file in "$build"/app/*.php; do
    php --syntax-check "$file" >/dev/null
done
{
    php -r 'echo "php ", PHP_VERSION, "\n";'
    sh ../../debian.sh nginx -v 2>&1 | sed -n 's/.*nginx\/\([0-9.]*\).*/nginx \1/p'
    [ "${1:-}" != protobuf ] || dpkg-query --show --showformat='protobuf ${Version}\n' php-google-protobuf
} >"$build/packages.lock"
