#!/usr/bin/env bash
# Runs rpcbench, h2load, ghz, wrk and the floor in turn against the same servers, and prints what a call costs each of
# them. Installs h2load (Debian's nghttp2-client), wrk (Debian's) and ghz (a Go module, into build/load-generators/)
# where they are missing.
#
#   bench-client.sh [ARGUMENT...]    arguments of rpcbench-client-bench: --rounds 9 --seconds 5 --format markdown, see --help
#
# Without Go, ghz is left out, and wrk where apt can't install it. h2load is indispensable.
set -euo pipefail
cd "$(dirname "$0")/.."

ghz_version=v0.121.0
target=${CARGO_TARGET_DIR:-target}
folder=$PWD/build/load-generators

say() { echo "bench-client: $*" >&2; }

. scripts/apt.sh

# want PROGRAM PACKAGE: installs it where it is missing.
want() {
  has "$1" && return
  if ! may_install; then
    say "$1 is missing, and apt can't be used here: sudo apt-get install $2, then try again"
    return 1
  fi
  say "installing $2"
  apt install --no-install-recommends "$2" && return
  apt update || say "apt-get update failed; going on with the lists there are"
  apt install --no-install-recommends "$2" && return
  say "$2, which has $1, could not be installed with apt: install it, then try again"
  return 1
}

# wrk_version: it says so above its usage, and fails, as it was told no address.
wrk_version() { { wrk -v || true; } | awk 'NR == 1 { print $2 }'; }

# installed_ghz: the version of the ghz in the build folder; nothing where there is none.
installed_ghz() {
  [ -x "$folder/ghz" ] || return 0
  go version -m "$folder/ghz" 2>/dev/null | awk '$1 == "mod" { print $3 }'
}

want_ghz() {
  if ! has go; then
    say "Go is missing, so ghz is left out: install Go from https://go.dev/dl/, then try again"
    return
  fi
  [ "$(installed_ghz)" != "$ghz_version" ] || return 0
  say "building ghz $ghz_version"
  GOBIN=$folder go install "github.com/bojand/ghz/cmd/ghz@$ghz_version" >&2 ||
    say "ghz $ghz_version could not be built, so ghz is left out"
}

mkdir -p "$folder"
want h2load nghttp2-client || exit 1
want wrk wrk || say "wrk is left out"
want_ghz
cargo build --release --locked --package rpcbench --package rpcbench-testkit --package rpcbench-client-bench
"$target/release/rpcbench" build rust-tonic >&2

arguments=(--programs "$target/release" --h2load "$(command -v h2load)")
found=$(installed_ghz)
[ -z "$found" ] || arguments+=(--ghz "$folder/ghz" --ghz-version "$found")
! has wrk || arguments+=(--wrk "$(command -v wrk)" --wrk-version "$(wrk_version)")
exec "$target/release/rpcbench-client-bench" "${arguments[@]}" "$@"
