#!/bin/sh
# Builds the Python server or client program in the current folder into RPCBENCH_BUILD_DIR: its sources, the shared ones, a virtual
# environment with the locked packages, each checked against its hash, and the code generated from the contract (for a library that
# reads the contract at start, the contract).
#
#   build.sh          builds
#   build.sh lock     rewrites requirements.txt
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.proto and echo.thrift}"

here=$(cd "$(dirname "$0")" && pwd)
build=$RPCBENCH_BUILD_DIR

if [ "${1:-}" = lock ]; then
    python3 -m venv --clear "$build/lock"
    "$build/lock/bin/python" -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2
    "$build/lock/bin/pip-compile" --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
        --no-emit-find-links --no-emit-index-url requirements.in
    exit 0
fi

python3 -m venv --clear "$build/venv"
"$build/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --require-hashes --requirement requirements.txt
if [ -d ../driver ]; then
    # Client programs.
    cp -r ../driver "$here/runtime_log.py" ./*.py "$build"
    "$build/venv/bin/python" -m compileall -q "$build/driver"
else
    cp "$here"/*.py ./*.py "$build"
fi
if grep -q '^grpcio-tools==' requirements.txt; then
    "$build/venv/bin/python" -m grpc_tools.protoc --proto_path="$RPCBENCH_CONTRACT" \
        --python_out="$build" --grpc_python_out="$build" echo.proto
fi
if grep -q '^protoc-gen-connectrpc==' requirements.txt; then
    # In a package, since the modules import each other by relative names.
    rm -rf "$build/generated"
    mkdir "$build/generated"
    PATH="$build/venv/bin:$PATH" protoc --proto_path="$RPCBENCH_CONTRACT" \
        --py_out="$build/generated" --connectrpc_out="$build/generated" echo.proto
    "$build/venv/bin/python" -m compileall -q "$build/generated"
fi
if grep -q '^thrift==' requirements.txt; then
    thrift -gen py -out "$build" "$RPCBENCH_CONTRACT/echo.thrift"
    "$build/venv/bin/python" -m compileall -q "$build/rpcbench"
fi
! grep -q '^thriftpy2==' requirements.txt || cp "$RPCBENCH_CONTRACT/echo.thrift" "$build"
"$build/venv/bin/python" -m compileall -q "$build"/*.py
