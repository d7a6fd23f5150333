#!/bin/sh
# Puts the binary at $RPCBENCH_BUILD_DIR/server. RPCBENCH_TESTKIT names an existing one, as in the tests. Without it cargo
# builds one, in a separate target folder so that it does not wait for another cargo.
set -eu

if [ -z "${RPCBENCH_TESTKIT:-}" ]; then
    # From the server's folder: crates/testkit/root/servers/testkit/liar.
    cargo build --release --locked --package rpcbench-testkit \
        --manifest-path ../../../../../../Cargo.toml --target-dir "$RPCBENCH_BUILD_DIR/target"
    RPCBENCH_TESTKIT=$RPCBENCH_BUILD_DIR/target/release/rpcbench-testkit
fi
cp "$RPCBENCH_TESTKIT" "$RPCBENCH_BUILD_DIR/server.new"
mv "$RPCBENCH_BUILD_DIR/server.new" "$RPCBENCH_BUILD_DIR/server"
