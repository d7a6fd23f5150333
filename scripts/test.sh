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
: >"$logs/passed-again"
: >"$logs/peers.log"

# step NAME COMMAND...
step() {
  local began=$SECONDS
  name=$1
  shift
  echo
  echo "== $name"
  "$@" 2>&1 | tee "$logs/step.log"
  echo "== $name: $((SECONDS - began)) s"
}

# Unit, property, integration and documentation tests of the workspace.
cargo_test() { cargo test --workspace --locked --no-fail-fast 2>&1 | tee "$logs/cargo-test.log" || again; }

# again: the tests that failed, one after the other. Neighbours may have taken the machine's CPUs away for seconds, which
# tests of figures notice; the closing lines name those that pass now. A program that crashed gets no second try.
again() {
  local crashed failed
  crashed=$(awk '/^error: [0-9]+ targets? failed:$/ { targets = $2 } /^test result: FAILED/ { told++ }
    END { print targets == told ? 0 : 1 }' "$logs/cargo-test.log")
  mapfile -t failed < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$logs/cargo-test.log")
  [ "$crashed" = 0 ] && [ ${#failed[@]} -gt 0 ] || return 1
  echo "== tests that failed, again: ${failed[*]}"
  cargo test --workspace --locked --no-fail-fast --quiet -- --exact --test-threads 1 "${failed[@]}" || return 1
  printf '%s\n' "${failed[@]}" >"$logs/passed-again"
}

cargo_doc() { RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --document-private-items; }

# The protocol code against hostile bytes, briefly: the committed corpus, and what grows from it.
fuzz() { scripts/fuzz.sh 15; }

# The HTML page in a browser, over the golden records, by the release build that set-up has made.
page() {
  local program
  program=$(realpath "$target/release/rpcbench")
  (cd web && RPCBENCH=$program npx playwright test)
}

# Programs of others call the servers that were built, and stand in front of them.
peers() {
  local tests
  tests=$(scripts/peers.sh)
  [ -n "$tests" ] || return 0
  mapfile -t tests <<<"$tests"
  cargo test --workspace --locked --test it -- --ignored "${tests[@]}" 2>&1 | tee "$logs/peers.log"
}

# Real servers: each keeps the contract, for the clients of others too, and none fails in a short run of those that run by
# default. That run has a second try: in windows so short a server may get no CPU at all, where neighbours take it.
end_to_end() {
  cargo build --release --locked --package rpcbench
  "$target/release/rpcbench" check --all
  peers
  short_run && return
  echo "== the short run, again"
  short_run
}

short_run() {
  local results=$logs/results
  rm -rf "$results"
  "$target/release/rpcbench" run --duration 500ms --warmup 1s --processes 1 --rounds 2 --seed 7 --results "$results" || return 1
  if grep -E ',(failed|suspect),' "$results"/*/cells.csv; then
    echo "the servers above failed, or their figures contradict each other" >&2
    return 1
  fi
}

# closing: what cargo's runners said, and all of them added up; of a step that failed, its end.
closing() {
  local code=$?
  echo
  grep -h '^test result:' "$logs/cargo-test.log" "$logs/peers.log" || true
  sed 's/^/failed once, and passed by itself: /' "$logs/passed-again"
  # What is in the second log was skipped in the first.
  awk -v again="$(wc -l <"$logs/passed-again")" '/^test result:/ { passed += $4; failed += $6 }
    /^test result:/ { skipped += FILENAME ~ /peers.log$/ ? -($4 + $6) : $8 }
    END { printf "%d passed, %d failed, %d skipped\n", passed + again, failed - again, skipped }' \
    "$logs/cargo-test.log" "$logs/peers.log"
  if [ "$code" != 0 ]; then
    [ "$name" = tests ] || tail -n 15 "$logs/step.log" >&2
    echo "make test: $name failed (exit code $code)" >&2
  fi
  return "$code"
}

trap closing EXIT
step "set-up" scripts/setup.sh test
step "format and lints" scripts/lint.sh
step "documentation" cargo_doc
step "generated code" scripts/generated.sh
step "tests" cargo_test
step "page" page
step "fuzzing" fuzz
step "end to end" end_to_end
step "lints of what was built" scripts/lint.sh built
