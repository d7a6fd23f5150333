#!/usr/bin/env bash
# Installs missing tools for building rpcbench and its servers, with apt if allowed, and builds rpcbench.
#
#   setup.sh          for every server, with the quick build `first` (Cargo.toml)
#   setup.sh default  the same for the servers that `make bench` compares without arguments
#   setup.sh test     for `make test`, with the build of the tests; also installs shellcheck, curl, npm and a browser
#
# Fails only without Rust or a C compiler. Servers whose toolchain can't be installed are left out; `rpcbench doctor --missing` lists
# such toolchains.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1:-all}
case "$mode" in
  all | default)
    build=(cargo build --profile first --locked --package rpcbench)
    folder=first
    servers=$mode
    ;;
  test)
    # Builds the program that the tests use. Building the package alone would resolve other features.
    build=(cargo test --workspace --locked --no-run --quiet)
    folder=debug
    servers=all
    ;;
  *) echo "setup.sh: unknown word '$mode'; expected all, default or test" >&2; exit 2 ;;
esac

rpcbench=${CARGO_TARGET_DIR:-target}/$folder/rpcbench

say() { echo "set-up: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

. scripts/apt.sh

# prerequisites: missing packages that rpcbench itself needs, one Debian dependency a line.
prerequisites() {
  has cc || echo gcc
  [ -e /usr/include/stdio.h ] || echo libc6-dev
  [ -e /etc/ssl/certs/ca-certificates.crt ] || echo ca-certificates # every registry is reached over TLS
  has cargo || echo rustup
  [ "$mode" = test ] || return 0
  has shellcheck || echo shellcheck
  has curl || echo curl
  has npm || echo npm
  has chromium || [ -n "${CHROMIUM:-}" ] || echo chromium
}

# needed: packages of toolchains that rpcbench finds missing, one Debian dependency a line.
needed() { missing | cut -f 5 | sed 's/, /\n/g' | grep -vx -- '-' | sort -Vu | newest; }

# Matches dependencies that Debian starts as services, or that need such a service.
services='(nginx-light|php-fpm|erlang-[a-z]+)( |$)'

toolchains() { needed | grep -vE "^$services" || true; }

service_toolchains() { needed | grep -E "^$services" || true; }

# newest: keeps only the last line of each package. Keeps all lines with alternatives.
newest() {
  awk '{ key = /\|/ ? $0 : $1 }
    !(key in line) { order[++count] = key }
    { line[key] = $0 }
    END { for (i = 1; i <= count; i++) print line[order[i]] }'
}

# missing: tab-separated language, toolchain, version found, version needed, Debian packages, what to install.
missing() { "$rpcbench" doctor --missing="$servers"; }

lists_are_empty() { [ -z "$(find /var/lib/apt/lists -maxdepth 1 -type f -name '*_Packages*' -print -quit 2>/dev/null)" ]; }

refresh() { apt update || say "apt-get update failed; using the existing lists"; }

# joined WORD...: comma-separated, for apt-get satisfy.
joined() {
  local IFS=,
  echo "$*"
}

# satisfy DEPENDENCY...: installs them together, or one by one if that fails.
satisfy() {
  local dependency
  say "installing ${*} (some minutes)"
  apt satisfy --no-install-recommends "$(joined "$@")" && return
  refresh
  apt satisfy --no-install-recommends "$(joined "$@")" && return
  for dependency in "$@"; do
    apt satisfy --no-install-recommends "$dependency" || say "$dependency could not be installed"
  done
}

# from_backports DEPENDENCY: installs it from backports, if apt's sources include them and they have it.
from_backports() {
  local backports
  backports=$(apt-cache policy 2>/dev/null | grep -oE 'n=[a-z]+-backports' | head -n 1 | cut -d = -f 2) || true
  [ -n "$backports" ] && apt-get satisfy --simulate -qq -t "$backports" "$1" >/dev/null 2>&1 || return 0
  if may_install; then
    say "installing $1 from $backports (some minutes)"
    apt satisfy --no-install-recommends -t "$backports" "$1" || say "$1 could not be installed"
  else
    say "to install what is missing: sudo apt-get satisfy -t $backports '$1'"
  fi
}

# provide DEPENDENCY...: installs those that apt offers in the required version; without root, prints how to install them.
provide() {
  local dependency offered=()
  [ $# -gt 0 ] || return 0
  has apt-get || return 0
  if may_install && lists_are_empty; then refresh; fi
  for dependency in "$@"; do
    if apt-get satisfy --simulate -qq "$dependency" >/dev/null 2>&1; then
      offered+=("$dependency")
    else
      from_backports "$dependency"
    fi
  done
  [ "${#offered[@]}" -gt 0 ] || return 0
  if may_install; then
    satisfy "${offered[@]}"
  else
    say "not root, and sudo needs a password; to install what is missing:"
    say "  sudo apt-get satisfy --no-install-recommends '$(joined "${offered[@]}")'"
  fi
}

# provide_all FUNCTION: provides the dependencies that a function prints.
provide_all() {
  local dependencies
  mapfile -t dependencies < <("$1")
  provide "${dependencies[@]}"
}

# simulate DEPENDENCY...: what apt would install, one PACKAGE=VERSION a line.
simulate() {
  apt-get satisfy --simulate -qq --no-install-recommends "$(joined "$@")" 2>/dev/null |
    sed -nE 's/^Inst ([^ ]+) (\[[^]]*\] )?\(([^ ]+) .*/\1=\3/p'
}

# unpack DEPENDENCY...: downloads what apt would install and unpacks it into build/debian, for servers/debian.sh. This needs no root,
# and starts no services.
unpack() {
  local dependency packages package offered=() folder=build/debian
  [ $# -gt 0 ] && has apt-get && has dpkg-deb || return 0
  if may_install && lists_are_empty; then refresh; fi
  for dependency in "$@"; do
    if apt-get satisfy --simulate -qq "$dependency" >/dev/null 2>&1; then offered+=("$dependency"); fi
  done
  [ "${#offered[@]}" -gt 0 ] || return 0
  mapfile -t packages < <(simulate "${offered[@]}")
  [ "${#packages[@]}" -gt 0 ] || return 0
  say "unpacking ${offered[*]} into $folder"
  rm -rf "$folder/archives"
  mkdir -p "$folder/archives"
  (cd "$folder/archives" && apt-get download -qq "${packages[@]}" >/dev/null 2>&1) ||
    say "could not download ${packages[*]}"
  for package in "$folder"/archives/*.deb; do
    [ ! -e "$package" ] || dpkg-deb --extract "$package" "$folder"
  done
  rm -rf "$folder/archives"
}

# at_least VERSION MINIMUM: true if VERSION is MINIMUM or newer.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# check_rust: installs the toolchain of rust-toolchain.toml if rustup lacks it, and checks its version.
check_rust() {
  local channel found minimum
  has cargo || fail "Rust is missing: install it from https://rustup.rs/, then try again"
  has cc || fail "a C compiler (cc) is missing, which Rust links with: apt-get install gcc libc6-dev, then try again"
  channel=$(sed -n 's/^channel *= *"\(.*\)"/\1/p' rust-toolchain.toml)
  if ! cargo --version >/dev/null 2>&1 && has rustup; then
    rustup toolchain install "$channel" --profile minimal --component rustfmt --component clippy >&2 ||
      fail "rustup could not install Rust $channel"
  fi
  found=$(cargo --version 2>&1 | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 || true)
  minimum=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)
  [ -n "$found" ] || fail "cargo does not run: $(cargo --version 2>&1 | head -n 1)"
  at_least "$found" "$minimum" ||
    fail "cargo is $found; rpcbench needs $minimum or newer: install it from https://rustup.rs/, then try again"
}

# report_missing: prints a line for each toolchain that is still missing.
report_missing() {
  local language tool found minimum install
  while IFS=$'\t' read -r language tool found minimum _ install; do
    if [ "$found" = - ]; then found="$tool is missing"; else found="$tool is $found, older than $minimum"; fi
    say "$language: $found, so servers that need it are left out; install $install"
  done < <(missing)
}

# check_rust_available: fails, before anything is installed, if Rust is neither installed nor in apt.
check_rust_available() {
  has cargo && return
  if has apt-get; then
    if may_install && lists_are_empty; then refresh; fi
    apt-get satisfy --simulate -qq rustup >/dev/null 2>&1 && may_install && return
  fi
  fail "Rust is missing; to install it: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
}

check_rust_available
provide_all prerequisites
check_rust
"${build[@]}"
provide_all toolchains
mapfile -t dependencies < <(service_toolchains)
unpack "${dependencies[@]}"
report_missing
