#!/bin/sh
# Builds the Node.js server or client program in the current folder into RPCBENCH_BUILD_DIR: its sources, the shared ones, the contract,
# code generated from it, and node_modules exactly as locked.
#
#   build.sh          builds
#   build.sh lock     rewrites package-lock.json
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.proto and echo.thrift}"

if [ "${1:-}" = lock ]; then
    exec npm install --package-lock-only --ignore-scripts --no-audit --no-fund
fi

here=$(cd "$(dirname "$0")" && pwd)
if [ -d ../driver ]; then
    # Client programs.
    cp -r ../driver "$here/runtime-log.js" "$RPCBENCH_BUILD_DIR"
else
    cp "$here"/*.js "$RPCBENCH_BUILD_DIR"
fi
cp package.json package-lock.json ./*.js "$RPCBENCH_CONTRACT/echo.proto" "$RPCBENCH_BUILD_DIR"
if grep -q '^    "thrift": ' package.json; then
    mkdir -p "$RPCBENCH_BUILD_DIR/generated"
    thrift -gen js:node,es6 -out "$RPCBENCH_BUILD_DIR/generated" "$RPCBENCH_CONTRACT/echo.thrift"
    # Its modules are CommonJS.
    echo '{ "type": "commonjs" }' >"$RPCBENCH_BUILD_DIR/generated/package.json"
fi
cd "$RPCBENCH_BUILD_DIR"
npm ci --omit=dev --ignore-scripts --no-audit --no-fund
if [ -x node_modules/.bin/protoc-gen-es ]; then
    protoc --plugin=node_modules/.bin/protoc-gen-es --es_out=. --es_opt=target=js echo.proto
fi
