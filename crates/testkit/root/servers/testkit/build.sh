#!/bin/sh
# Puts the binary at $RPCBENCH_BUILD_DIR/server. RPCBENCH_TESTKIT names one that is built already, as the tests do;
# without it cargo builds one, in a target folder of its own so that no other cargo is waited for.
set -eu

if [ -z "${RPCBENCH_TESTKIT:-}" ]; then
    # From the server's folder: crates/testkit/root/servers/testkit/liar.
    cargo build --release --locked --package rpcbench-testkit \
        --manifest-path ../../../../../../Cargo.toml --target-dir "$RPCBENCH_BUILD_DIR/target"
    RPCBENCH_TESTKIT=$RPCBENCH_BUILD_DIR/target/release/rpcbench-testkit
fi
cp "$RPCBENCH_TESTKIT" "$RPCBENCH_BUILD_DIR/server.new"
mv "$RPCBENCH_BUILD_DIR/server.new" "$RPCBENCH_BUILD_DIR/server"
