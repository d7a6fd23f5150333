#!/bin/sh
# Builds the Node server in the current folder into RPCBENCH_BUILD_DIR: its sources, those that all share, the contract, and node_modules exactly as locked.
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.proto}"

here=$(cd "$(dirname "$0")" && pwd)
cp package.json package-lock.json "$here"/*.js ./*.js "$RPCBENCH_CONTRACT/echo.proto" "$RPCBENCH_BUILD_DIR"
cd "$RPCBENCH_BUILD_DIR"
npm ci --omit=dev --ignore-scripts --no-audit --no-fund
