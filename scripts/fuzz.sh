#!/usr/bin/env bash
# Fuzzes the engine's protocol code and the parsers of crates/schema: scripts/fuzz.sh [SECONDS [TARGET...]]
#
# Builds the targets in crates/*/fuzz with the toolchain of rust-toolchain.toml and runs each for SECONDS (default 20) from its
# committed corpus, as many at once as there are CPUs. A failure prints the input that caused it and how to run it again. The target
# directory keeps inputs that reach new code.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-20}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "fuzz.sh: SECONDS is '$seconds'; expected a whole number, for example 20" >&2; exit 2; }
targets=("${@:2}")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(basename -s .rs crates/*/fuzz/fuzz_targets/*.rs)

work=$(realpath -m "${CARGO_TARGET_DIR:-target}")/fuzz
host=$(rustc -vV | sed -n 's/^host: //p')

# Coverage instrumentation for libFuzzer, the same flags as cargo-fuzz's. With `--target`, build scripts are not instrumented.
flags=(
  --cfg fuzzing -Cpasses=sancov-module
  -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
  -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares
  -Ccodegen-units=1
)
RUSTFLAGS="${flags[*]}" CARGO_TARGET_DIR=$work \
  cargo build --workspace --release --locked --target "$host" --manifest-path crates/engine/fuzz/Cargo.toml

# run_target TARGET: runs it and prints its statistics.
run_target() {
  local target=$1 log=$work/$1.log found=$work/found/$1 corpus
  corpus=$(echo crates/*/fuzz/corpus/"$target")
  mkdir -p "$found" "$work/artifacts"
  if ! "$work/$host/release/$target" "$found" "$corpus" \
    -artifact_prefix="$work/artifacts/$target-" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -rss_limit_mb=1024 -print_final_stats=1 >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "fuzz.sh: $target failed; to run it again with the input named above: $work/$host/release/$target FILE" >&2
    return 1
  fi
  printf '== %s: %s s\n%s\n' "$target" "$seconds" \
    "$(grep -E '^(#[0-9]+[[:space:]]+DONE|stat::number_of_executed_units|stat::peak_rss_mb)' "$log")"
}

# Each target uses one CPU.
export -f run_target
export seconds work host
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I TARGET bash -c 'run_target TARGET'
