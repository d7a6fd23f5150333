#!/usr/bin/env bash
# Installs what building rpcbench and its servers needs, and only what is missing, with apt where that is allowed.
#
#   setup.sh          what `make bench` needs
#   setup.sh test     what `make test` needs: the same, a linter for shell scripts, npm and a browser for the HTML page, and curl
#
# Only Rust and a C compiler are indispensable: with them rpcbench is built, which then says what each language lacks
# (`rpcbench doctor --missing`). What can't be had leaves that language's servers out, and nothing here fails.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1:-bench}
case "$mode" in
  bench | test) ;;
  *) echo "setup.sh: unknown word '$mode'; known: bench, test" >&2; exit 2 ;;
esac

rpcbench=${CARGO_TARGET_DIR:-target}/release/rpcbench

say() { echo "set-up: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

. scripts/apt.sh

# bootstrap: the packages without which rpcbench itself can't be built, one Debian dependency a line.
bootstrap() {
  has cc || echo gcc
  [ -e /usr/include/stdio.h ] || echo libc6-dev
  [ -e /etc/ssl/certs/ca-certificates.crt ] || echo ca-certificates # every registry is reached over TLS
  has cargo || echo rustup
  [ "$mode" = bench ] && return
  has shellcheck || echo shellcheck
  has curl || echo curl
  has npm || echo npm
  has chromium || [ -n "${CHROMIUM:-}" ] || echo chromium
}

# daemons: packages that Debian also starts as services, so that only CI, whose machines are its own, gets them unasked.
daemons() {
  [ "$mode" = test ] && [ "${CI:-}" = true ] || return 0
  has nginx || echo nginx-light
  ls /usr/sbin/php-fpm* >/dev/null 2>&1 || echo php-fpm
}

# toolchains: the same for the languages' toolchains, of what rpcbench finds missing.
toolchains() { missing | cut -f 5 | sed 's/, /\n/g' | grep -vx -- '-' | sort -Vu | newest; }

# newest: of several versions of one package, the last. Alternatives stand for themselves.
newest() {
  awk '{ key = /\|/ ? $0 : $1 }
    !(key in line) { order[++count] = key }
    { line[key] = $0 }
    END { for (i = 1; i <= count; i++) print line[order[i]] }'
}

# missing: language, toolchain, version found, version needed, Debian packages, what to install.
missing() { "$rpcbench" doctor --missing; }

lists_are_empty() { [ -z "$(find /var/lib/apt/lists -maxdepth 1 -type f -name '*_Packages*' -print -quit 2>/dev/null)" ]; }

refresh() { apt update || say "apt-get update failed; going on with the lists there are"; }

# joined WORD...: with commas between them, as apt-get satisfy takes them.
joined() {
  local IFS=,
  echo "$*"
}

# satisfy DEPENDENCY...: installs them together; one that can't be had must not keep the others away.
satisfy() {
  local dependency
  say "installing ${*} (some minutes)"
  apt satisfy --no-install-recommends "$(joined "$@")" && return
  refresh
  apt satisfy --no-install-recommends "$(joined "$@")" && return
  for dependency in "$@"; do
    apt satisfy --no-install-recommends "$dependency" || say "$dependency could not be installed; going on without"
  done
}

# from_backports DEPENDENCY: what the release itself has only in an older version, where its backports are among apt's sources.
from_backports() {
  local backports
  backports=$(apt-cache policy 2>/dev/null | grep -oE 'n=[a-z]+-backports' | head -n 1 | cut -d = -f 2) || true
  [ -n "$backports" ] && apt-get satisfy --simulate -qq -t "$backports" "$1" >/dev/null 2>&1 || return 0
  if may_install; then
    say "installing $1 from $backports (some minutes)"
    apt satisfy --no-install-recommends -t "$backports" "$1" || say "$1 could not be installed; going on without"
  else
    say "to install what is missing: sudo apt-get satisfy -t $backports '$1'"
  fi
}

# provide DEPENDENCY...: installs those that apt can provide in the version asked for, where that is allowed.
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
    say "neither root nor sudo without a password; to install what is missing:"
    say "  sudo apt-get satisfy --no-install-recommends '$(joined "${offered[@]}")'"
  fi
}

# provide_all FUNCTION: provides what the function lists.
provide_all() {
  local dependencies
  mapfile -t dependencies < <("$1")
  provide "${dependencies[@]}"
}

# at_least VERSION MINIMUM
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# The toolchain that rust-toolchain.toml names; rustup gets it where it is not there yet.
check_rust() {
  local channel found least
  has cargo || fail "Rust is missing, and nothing works without it: install it from https://rustup.rs/, then try again"
  has cc || fail "there is no C compiler (cc), which Rust links with: apt-get install gcc libc6-dev, then try again"
  channel=$(sed -n 's/^channel *= *"\(.*\)"/\1/p' rust-toolchain.toml)
  if ! cargo --version >/dev/null 2>&1 && has rustup; then
    rustup toolchain install "$channel" --profile minimal --component rustfmt --component clippy >&2 ||
      fail "rustup could not install Rust $channel"
  fi
  found=$(cargo --version 2>&1 | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 || true)
  least=$(sed -n 's/^rust-version *= *"\(.*\)"/\1/p' Cargo.toml)
  [ -n "$found" ] || fail "cargo does not run: $(cargo --version 2>&1 | head -n 1)"
  at_least "$found" "$least" ||
    fail "cargo is $found, and rpcbench needs $least or newer: install it from https://rustup.rs/, then try again"
}

# What is missing still, in one line each.
report_missing() {
  local language tool found minimum install
  while IFS=$'\t' read -r language tool found minimum _ install; do
    if [ "$found" = - ]; then found="$tool is missing"; else found="$tool is $found, older than $minimum"; fi
    say "$language: $found, so servers that need it are left out; install $install"
  done < <(missing)
}

# rust_can_be_had: before anything is installed for it, as without Rust all of that would be in vain.
rust_can_be_had() {
  has cargo && return
  if has apt-get; then
    if may_install && lists_are_empty; then refresh; fi
    apt-get satisfy --simulate -qq rustup >/dev/null 2>&1 && may_install && return
  fi
  fail "Rust is missing, and nothing works without it; this installs it: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
}

rust_can_be_had
provide_all bootstrap
check_rust
cargo build --release --locked --package rpcbench
provide_all toolchains
provide_all daemons
report_missing
