#!/usr/bin/env bash
# Runs rpcbench, h2load, ghz, wrk, oha and the floor in turn against the same servers, and prints how much CPU time a call costs
# each. Installs missing ones: h2load (package nghttp2-client) and wrk with apt; ghz (a Go module) and oha (a crate, which takes
# minutes) into build/load-generators/.
#
#   bench-client.sh [ARGUMENT...]    arguments of scripts/bench/client.py: --rounds 9 --seconds 5 --format markdown, see --help
#
# Requires h2load. Leaves out ghz without Go, wrk if apt can't install it, and oha if it can't be built.
set -euo pipefail
cd "$(dirname "$0")/.."

ghz_version=v0.121.0
oha_version=1.15.0
target=${CARGO_TARGET_DIR:-target}
folder=$PWD/build/load-generators

say() { echo "bench-client: $*" >&2; }

. scripts/apt.sh

# require PROGRAM PACKAGE: installs the program if it is missing.
require() {
  has "$1" && return
  if ! may_install; then
    say "$1 is missing, and can't be installed without root: run sudo apt-get install $2, then try again"
    return 1
  fi
  say "installing $2"
  apt install --no-install-recommends "$2" && return
  apt update || say "apt-get update failed; using the existing lists"
  apt install --no-install-recommends "$2" && return
  say "apt could not install $2, which provides $1: install it, then try again"
  return 1
}

# wrk_version: from the first line of its usage message; -v always fails.
wrk_version() { { wrk -v || true; } | awk 'NR == 1 { print $2 }'; }

# installed_ghz: the version of ghz in the build folder, or nothing.
installed_ghz() {
  [ -x "$folder/ghz" ] || return 0
  go version -m "$folder/ghz" 2>/dev/null | awk '$1 == "mod" { print $3 }'
}

install_ghz() {
  if ! has go; then
    say "Go is missing, so ghz is left out: install Go from https://go.dev/dl/, then try again"
    return
  fi
  [ "$(installed_ghz)" != "$ghz_version" ] || return 0
  say "building ghz $ghz_version"
  GOBIN=$folder go install "github.com/bojand/ghz/cmd/ghz@$ghz_version" >&2 ||
    say "ghz $ghz_version could not be built, so ghz is left out"
}

install_oha() {
  [ "$("$folder/bin/oha" --version 2>/dev/null)" != "oha $oha_version" ] || return 0
  say "building oha $oha_version"
  cargo install --quiet --locked --root "$folder" "oha@$oha_version" >&2 || say "oha $oha_version could not be built, so oha is left out"
}

mkdir -p "$folder"
require h2load nghttp2-client || exit 1
require wrk wrk || say "wrk is left out"
install_ghz
install_oha
cargo build --release --locked --package rpcbench --package rpcbench-testkit --package rpcbench-bench
"$target/release/rpcbench" build rust-tonic >&2

arguments=(--programs "$target/release" --h2load "$(command -v h2load)")
version=$(installed_ghz)
[ -z "$version" ] || arguments+=(--ghz "$folder/ghz" --ghz-version "$version")
! [ -x "$folder/bin/oha" ] || arguments+=(--oha "$folder/bin/oha")
! has wrk || arguments+=(--wrk "$(command -v wrk)" --wrk-version "$(wrk_version)")
exec python3 scripts/bench/client.py "${arguments[@]}" "$@"
