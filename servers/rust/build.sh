#!/bin/sh
# Builds the Rust server or client program in the current folder into RPCBENCH_BUILD_DIR, with the same release profile for all, as
# recommended for deployed binaries. No target-cpu, no profile-guided optimisation, no other allocator. All servers and clients share a
# target folder, so common dependencies are compiled once.
#
#   build.sh          builds
#   build.sh lint     lints, with the build's settings
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"

builds=$(dirname "$(dirname "$RPCBENCH_BUILD_DIR")")
target=${builds%/}/rust

cargo_release() {
    command=$1
    shift
    cargo "$command" --release --locked --target-dir "$target" \
        --config 'profile.release.lto="thin"' --config profile.release.codegen-units=1 "$@"
}

if [ "${1:-}" = lint ]; then
    cargo_release clippy -- -D warnings
    exit
fi
cargo_release build
program=server
[ ! -e client.toml ] || program=client
cp -f "$target/release/rust-$(basename "$PWD")" "$RPCBENCH_BUILD_DIR/$program"
