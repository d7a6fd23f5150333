#!/usr/bin/env bash
# All tests: set-up, format and lints, documentation, unit to integration tests, the HTML page in a browser, fuzzing,
# then real servers end to end.
# The closing lines of the test runner come last.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
logs=$target/test
mkdir -p "$logs"
: >"$logs/cargo-test.log"

# step NAME COMMAND...
step() {
  local name=$1 began=$SECONDS
  shift
  echo
  echo "== $name"
  "$@"
  echo "== $name: $((SECONDS - began)) s"
}

# Unit, property, integration and documentation tests of the workspace.
cargo_test() { cargo test --workspace --locked --no-fail-fast 2>&1 | tee "$logs/cargo-test.log"; }

cargo_doc() { RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --document-private-items; }

# The protocol code against hostile bytes, briefly: the committed corpus, and what grows from it.
fuzz() { scripts/fuzz.sh 15; }

# The HTML page in a browser, over the golden records, by the release build that set-up has made.
page() {
  local program
  program=$(realpath "$target/release/rpcbench")
  (cd web && RPCBENCH=$program npx playwright test)
}

# Real servers: each keeps the contract, and none fails in a short run of those that run by default.
end_to_end() {
  local rpcbench=$target/release/rpcbench results=$logs/results
  cargo build --release --locked --package rpcbench
  "$rpcbench" check --all
  rm -rf "$results"
  "$rpcbench" run --duration 500ms --warmup 1s --processes 1 --rounds 2 --seed 7 --results "$results"
  if grep -E ',(failed|suspect),' "$results"/*/cells.csv; then
    echo "the servers above failed, or their figures contradict each other" >&2
    return 1
  fi
}

# closing: what cargo's runners said, and all of them added up.
closing() {
  local code=$?
  echo
  grep '^test result:' "$logs/cargo-test.log" || true
  awk '/^test result:/ { passed += $4; failed += $6; skipped += $8 }
    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }' "$logs/cargo-test.log"
  [ "$code" = 0 ] || echo "make test: failed (exit code $code)" >&2
  return "$code"
}

step "set-up" scripts/setup.sh test
step "format and lints" scripts/lint.sh
step "documentation" cargo_doc
step "generated code" scripts/generated.sh
trap closing EXIT
step "tests" cargo_test
step "page" page
step "fuzzing" fuzz
step "end to end" end_to_end
