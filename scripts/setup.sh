#!/usr/bin/env bash
# Installs what building rpcbench and its servers needs, and only what is missing, with apt where that is allowed.
#
#   setup.sh          what `make bench` needs
#   setup.sh test     what `make test` needs: the same, and a linter for shell scripts
#
# Only Rust and a linker are indispensable. Without anything else its server is left out, and nothing here fails.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
mode=${1:-bench}
case "$mode" in
  bench | test) ;;
  *) echo "setup.sh: unknown word '$mode'; known: bench, test" >&2; exit 2 ;;
esac

say() { echo "set-up: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

. "$root/scripts/apt.sh"

# minimum LANGUAGE TOOLCHAIN: the least version that the language's manifest asks for.
minimum() {
  awk -F'"' -v wanted="$2" '
    /^\[\[toolchain\]\]/ { name = "" }
    /^name *=/           { name = $2 }
    /^minimum *=/ && name == wanted { print $2; exit }
  ' "$root/servers/$1/_language.toml"
}

# at_least VERSION MINIMUM
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# version COMMAND...: the first version number that a command prints; nothing where it can't run.
version() { "$@" 2>&1 | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 || true; }

# recent LANGUAGE TOOLCHAIN COMMAND...: whether the command is there and new enough.
recent() {
  local language=$1 toolchain=$2 found
  shift 2
  has "$1" || return 1
  found=$(version "$@")
  [ -n "$found" ] && at_least "$found" "$(minimum "$language" "$toolchain")"
}

# offered PACKAGE: the version that apt would install, without epoch and revision; nothing where it knows none.
offered() {
  has apt-cache || return 0
  LC_ALL=C apt-cache policy "$1" 2>/dev/null |
    sed -n 's/^ *Candidate: \([0-9]*:\)\{0,1\}\([0-9][^-+~]*\).*/\2/p' | head -n 1
}

# offers PACKAGE [MINIMUM]: whether apt has the package, in that version or a later one.
offers() {
  local candidate
  candidate=$(offered "$1")
  [ -n "$candidate" ] && at_least "$candidate" "${2:-0}"
}

wanted=()
want() { wanted+=("$@"); }

want_linker() {
  if ! has cc || ! has gcc; then want gcc libc6-dev; fi
  [ -e /etc/ssl/certs/ca-certificates.crt ] || want ca-certificates # every registry is reached over TLS
}

want_cpp() {
  has g++ || want g++
  has make || want make
  has cmake || want cmake
  has pkg-config || want pkg-config
  has protoc || want protobuf-compiler
  has grpc_cpp_plugin || want protobuf-compiler-grpc
  pkg-config --exists grpc++ protobuf 2>/dev/null || want libgrpc++-dev libprotobuf-dev
}

want_java() {
  local jdk
  if ! sh "$root/servers/java/jdk.sh" >/dev/null 2>&1; then
    for jdk in openjdk-25-jdk-headless openjdk-21-jdk-headless openjdk-17-jdk-headless default-jdk-headless; do
      if offers "$jdk"; then break; fi
    done
    want "$jdk"
  fi
  has mvn || want maven
}

want_node() {
  local minimum
  if ! recent node node node --version; then
    minimum=$(minimum node node)
    if has apt-cache && [ -n "$(offered nodejs)" ] && ! offers nodejs "$minimum"; then
      say "Node.js: apt offers $(offered nodejs); the Node server needs $minimum or newer, from https://nodejs.org/"
      return
    fi
    want nodejs
  fi
  has npm || want npm
}

want_python() {
  local minimum
  if ! recent python python python3 --version; then
    minimum=$(minimum python python)
    if has apt-cache && [ -n "$(offered python3)" ] && ! offers python3 "$minimum"; then
      say "Python: apt offers $(offered python3); the Python server needs $minimum or newer"
      return
    fi
    want python3
  fi
  python3 -c 'import venv, ensurepip' 2>/dev/null || want python3-venv
}

want_go() {
  local minimum
  recent go go go version && return
  minimum=$(minimum go go)
  if offers golang-go "$minimum"; then
    want golang-go
  else
    say "Go: apt has no Go $minimum or newer, so the Go server is left out; install it from https://go.dev/dl/"
  fi
}

want_rust() {
  has cargo || { offers rustup && want rustup; } || true
}

want_everything() {
  wanted=()
  want_linker
  want_rust
  want_cpp
  want_java
  want_node
  want_python
  want_go
  [ "$mode" = bench ] || has shellcheck || want shellcheck
}

lists_are_empty() { [ -z "$(find /var/lib/apt/lists -maxdepth 1 -type f -name '*_Packages*' -print -quit 2>/dev/null)" ]; }

refresh() { apt update || say "apt-get update failed; going on with the lists there are"; }

install() { apt install --no-install-recommends "$@"; }

# One package that cannot be had must not keep the others away.
install_wanted() {
  local package
  say "installing ${wanted[*]} (some minutes)"
  install "${wanted[@]}" && return
  refresh
  install "${wanted[@]}" && return
  for package in "${wanted[@]}"; do
    install "$package" || say "$package could not be installed; going on without"
  done
}

install_packages() {
  want_everything
  [ "${#wanted[@]}" -gt 0 ] || return 0
  if ! may_install; then
    say "neither root nor sudo without a password, or no apt; to install what is missing:"
    say "  sudo apt-get install --no-install-recommends ${wanted[*]}"
    return
  fi
  if lists_are_empty; then
    refresh
    want_everything
  fi
  install_wanted
}

# The toolchain that rust-toolchain.toml names; rustup gets it where it is not there yet.
check_rust() {
  local channel found least
  cd "$root"
  has cargo || fail "Rust is missing, and nothing works without it: install it from https://rustup.rs/, then try again"
  has cc || fail "there is no C compiler (cc), which Rust links with: apt-get install gcc libc6-dev, then try again"
  channel=$(sed -n 's/^channel *= *"\(.*\)"/\1/p' rust-toolchain.toml)
  if ! cargo --version >/dev/null 2>&1 && has rustup; then
    rustup toolchain install "$channel" --profile minimal --component rustfmt --component clippy >&2 ||
      fail "rustup could not install Rust $channel"
  fi
  found=$(version cargo --version)
  least=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)
  [ -n "$found" ] || fail "cargo does not run: $(cargo --version 2>&1 | head -n 1)"
  at_least "$found" "$least" ||
    fail "cargo is $found, and rpcbench needs $least or newer: install it from https://rustup.rs/, then try again"
}

install_packages
check_rust
