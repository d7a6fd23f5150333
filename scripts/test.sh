#!/usr/bin/env bash
# Runs the tests and ends with their counts.
#
#   test.sh        what a change must pass: lints, the tests of the workspace, real servers (representative and changed ones), and,
#                  if the branch changes what they test (scripts/changed.sh), the HTML page and short fuzzing
#   test.sh all    uses the release build, and adds every server and client in every variant, the page, and longer fuzzing
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1:-quick}
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
logs=$target/test
case "$mode" in
  quick)
    build=(cargo test --workspace --locked --no-run --quiet)
    rpcbench=$target/debug/rpcbench
    fuzz_seconds=3
    ;;
  all)
    build=(cargo build --release --locked --package rpcbench)
    rpcbench=$target/release/rpcbench
    fuzz_seconds=30
    ;;
  *) echo "test.sh: unknown word '$mode'; expected all or nothing" >&2; exit 2 ;;
esac
mkdir -p "$logs"
for log in nextest doctests peers skipped; do : >"$logs/$log.log"; done

# step NAME COMMAND...: runs and logs a step, with its duration.
step() {
  local began=$SECONDS
  name=$1
  shift
  echo
  echo "== $name"
  "$@" 2>&1 | tee "$logs/$name.log"
  echo "== $name: $((SECONDS - began)) s"
}

# in_background NAME COMMAND...: runs a step next to others, in its own process group so that `finish` can end it.
in_background() {
  set -m
  step "$@" </dev/null >"$logs/background.log" 2>&1 &
  set +m
  background=$!
}

# await NAME: waits for the background step, prints its output, and fails if it failed.
await() {
  local code=0
  name=$1
  wait "$background" || code=$?
  background=
  cat "$logs/background.log"
  return "$code"
}

set_up() {
  scripts/setup.sh test
  scripts/nextest.sh
}

lint() {
  if [ "$mode" = all ]; then scripts/lint.sh all; else scripts/lint.sh; fi
}

documentation() {
  RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked --document-private-items
}

# More threads than CPUs: tests often wait for a server or a clock. `finish` lists what could not run here.
nextest() {
  local code=0
  "$(scripts/nextest.sh)" nextest run --workspace --locked --color never --test-threads "$(($(nproc) * 3))" "$@" || code=$?
  scripts/skipped.py "$target/nextest/default/junit.xml" >>"$logs/skipped.log" || [ "$code" != 0 ] || code=$?
  return "$code"
}

tests() {
  nextest 2>&1 | tee "$logs/nextest.log"
  cargo test --workspace --locked --doc 2>&1 | tee "$logs/doctests.log"
}

# is_due PATH...: true if the tests of the code below these paths must run.
is_due() {
  if [ "$mode" = all ] || scripts/changed.sh "$@"; then return; fi
  echo "skipped: no change below $*"
  return 1
}

# The HTML page in a browser, over the recorded runs in web/tests/records.
page() {
  is_due web crates/cli crates/record crates/report crates/stats || return 0
  (cd web && RPCBENCH=$rpcbench npx playwright test)
}

fuzz() {
  is_due crates/engine crates/record crates/schema crates/stats crates/reference/src/http2 || return 0
  scripts/fuzz.sh "$fuzz_seconds"
}

page_and_fuzzing() {
  page
  fuzz
}

# Builds the representative servers and clients, or all.
builds() {
  local selection=()
  [ "$mode" != all ] || selection=(--all)
  "${build[@]}"
  "$rpcbench" build "${selection[@]}"
  "$rpcbench" build --clients "${selection[@]}"
}

# Servers and clients must pass their cases, those with TLS also over it, and servers must answer clients of other projects. The
# representative ones must not fail in a short run, which checks them first.
servers() {
  local chosen
  if [ "$mode" = all ]; then
    chosen=('*')
  else
    # Cover what no representative server has: C++, Connect and Thrift, JSON over HTTP/2, and gRPC through nginx.
    mapfile -t chosen < <(printf '%s\n' cpp-grpc go-connect go-thrift php-fpm:json-h2c 'php-fpm-grpc*'; scripts/changed.sh)
  fi
  "$rpcbench" check "${chosen[@]}"
  "$rpcbench" check --tls "${chosen[@]}"
  clients
  RPCBENCH_TEST_SERVERS=${chosen[*]} peers
  # A busy machine can take the CPU from a server for a whole window, so there is a second try.
  short_run 7 && return
  echo "== short run: second try"
  short_run 8
}

# Representative clients must pass their cases. In mode `all`, so must all that can run here (`check` says why others can't), and they
# must keep the rest of their contract.
clients() {
  local names
  if [ "$mode" != all ]; then
    "$rpcbench" check --clients
    return
  fi
  "$rpcbench" check --clients --all | tee "$logs/clients.log"
  mapfile -t names < <(awk '$2 == "passed:" { print $1 }' "$logs/clients.log")
  clients/tests/conformance.py "${names[@]}"
}

# Tests with clients and proxies of other projects, which scripts/peers.sh installs.
peers() {
  local tests
  tests=$(scripts/peers.sh | sed 's/.*/test(\/^&::\/)/' | paste -sd +)
  [ -n "$tests" ] || return 0
  nextest --run-ignored only --filterset "$tests" 2>&1 | tee "$logs/peers.log"
}

# short_run SEED: the seed draws the order of trials and the requests.
short_run() {
  local results=$logs/results
  rm -rf "$results"
  "$rpcbench" run --duration 500ms --warmup 1s --processes 1 --rounds 2 --seed "$1" --results "$results" || return 1
  if grep -E ',(failed|suspect),' "$results"/*/cells.csv; then
    echo "the servers above failed, or their figures contradict each other" >&2
    return 1
  fi
}

# counts: passed, failed and skipped tests of all logs. Tests that peers.log ran are among those that nextest.log skipped.
counts() {
  cat "$logs"/{nextest,doctests,peers}.log | awk '
    function count(words) { return match($0, "[0-9]+ " words) ? substr($0, RSTART) + 0 : 0 }
    /^ +Summary \[/ { ran = count("tests? run"); summary++ }
    /^ +Summary \[/ { passed += count("passed"); failed += ran - count("passed") }
    /^ +Summary \[/ { skipped += summary == 1 ? count("skipped") : -ran }
    /^test result:/ { passed += count("passed"); failed += count("failed"); skipped += count("ignored") }
    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }'
}

# finish: prints skipped and flaky tests, the last lines of a failed step, and the counts.
finish() {
  local code=$? flaky
  [ -z "$background" ] || kill -- "-$background" 2>/dev/null || true
  flaky=$(cat "$logs"/{nextest,peers}.log | sed -n 's/^ *FLAKY \([0-9]*\)\/[0-9]* \[[^]]*\] *\(([^)]*) *\)\?/passed at try \1: /p' | sort -u)
  echo
  sort -u "$logs/skipped.log"
  [ -z "$flaky" ] || printf '%s\n%d flaky: each is an open bug\n' "$flaky" "$(wc -l <<<"$flaky")"
  if [ "$code" != 0 ]; then
    [ "$name" = tests ] || tail -n 15 "$logs/$name.log" >&2
    echo "make test: $name failed (exit code $code)" >&2
  fi
  counts
  return "$code"
}

name=set-up
background=
trap finish EXIT
step "set-up" set_up
step "format and lints" lint
step "documentation" documentation
step "generated code" scripts/generated.sh
step "tests" tests
step "builds of servers" builds
# Servers are started and called one at a time, which leaves CPUs idle.
in_background "page and fuzzing" page_and_fuzzing
step "servers" servers
await "page and fuzzing"
step "lints of what was built" scripts/lint.sh built
