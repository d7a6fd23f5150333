#!/usr/bin/env bash
# Checks format and lints of the workspace, documents and scripts, and of servers and clients with their toolchains' own tools.
#
#   lint.sh          everything, but only those Rust servers that the branch changes
#   lint.sh all      everything, all Rust servers, and advisories on dependencies
#   lint.sh built    only Go and C++ servers, which need code that their builds generate
set -euo pipefail
cd "$(dirname "$0")/.."

has() { command -v "$1" >/dev/null 2>&1; }

run() {
  echo "+ $*"
  "$@"
}

mode=${1:-}
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/lint"

rust() {
  run cargo fmt --all --check
  run cargo clippy --workspace --all-targets --locked -- -D warnings
  local folder changed root=$PWD
  changed=$(scripts/changed.sh)
  for folder in servers/rust/*/ clients/rust/*/; do
    run cargo fmt --manifest-path "${folder}Cargo.toml" --check
    is_chosen "$folder" || continue
    echo "+ cargo clippy in $folder"
    (cd "$folder" && RPCBENCH_BUILD_DIR=$root/build/${folder%%/*}/lint sh "$root/servers/rust/build.sh" lint)
  done
}

# is_chosen FOLDER: true if a Rust server or client must be linted; `changed` has the patterns of changed servers.
is_chosen() {
  local pattern
  [ "$mode" != all ] || return 0
  case "$1" in clients/*) [ -n "$(scripts/changed.sh --files clients/rust)" ]; return ;; esac
  while IFS= read -r pattern; do
    # shellcheck disable=SC2254 # A pattern.
    case "rust-$(basename "$1")" in $pattern) return 0 ;; esac
  done <<<"$changed"
  return 1
}

# Go refuses modules that need a newer Go. The workspace of the last build has the generated code.
go_servers() {
  has go || return 0
  local folder work own unformatted
  for folder in servers/go/*/ clients/go/*/; do
    # It needs generated code, so it is vetted as part of the programs that import it.
    [ "$folder" != clients/go/messages/ ] || continue
    work=$PWD/build/${folder%%/*}/go-$(basename "$folder")/go.work
    [ -f "$work" ] || work=
    if ! (cd "$folder" && GOWORK=$work go list -deps ./... >/dev/null 2>&1); then
      echo "- $folder: skipped, $(cd "$folder" && GOWORK=$work go list -deps ./... 2>&1 >/dev/null | head -n 1)"
      continue
    fi
    mapfile -t own < <(cd "$folder" && GOWORK=$work go list -deps ./... | grep -E '^rpcbench\.dev/(clients|servers)/')
    (cd "$folder" && GOWORK=$work run go vet "${own[@]}")
  done
  echo "+ gofmt -l servers/go clients/go"
  unformatted=$(gofmt -l servers/go clients/go)
  [ -z "$unformatted" ] || { printf 'not formatted; run gofmt -w on:\n%s\n' "$unformatted" >&2; return 1; }
}

node_servers() {
  has node || return 0
  local file
  while IFS= read -r file; do
    echo "+ node --check $file"
    node --input-type=module --check - <"$file"
  done < <(files '*.js')
}

python_servers() {
  has python3 || return 0
  local file
  while IFS= read -r file; do
    echo "+ python3: parse $file"
    python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$file"
  done < <(files '*.py')
}

# Uses the headers that the last build generated.
cpp_programs() {
  has g++ || return 0
  local folder build
  for folder in servers/cpp/[!_]*/ clients/cpp/*/; do
    [ -f "${folder}main.cc" ] || continue
    build=build/${folder%%/*}/cpp-$(basename "$folder")
    [ -d "$build" ] || { echo "- $folder: skipped, not built"; continue; }
    run g++ -std=c++17 -fsyntax-only -Wall -Wextra -Werror -I "${folder%%/*}/cpp" -isystem "$build" "${folder}main.cc"
  done
}

# Syntax only: the libraries are in Maven's repository.
java_servers() {
  local jdk sources
  jdk=$(sh servers/java/jdk.sh 2>/dev/null) || return 0
  mapfile -t sources < <(files '*.java')
  echo "+ javac: parse ${#sources[@]} files"
  "$jdk/bin/javac" -proc:none -XDshould-stop.ifNoError=PARSE -d "$target/lint" "${sources[@]}"
}

maven=${HOME:-}/.m2/repository

# jars ARTIFACT...: a class path with the newest jar of each in Maven's repository; fails if one is missing.
jars() {
  local artifact jar path=
  for artifact in "$@"; do
    jar=$(find "$maven/$artifact" -name '*.jar' ! -name '*-sources.jar' 2>/dev/null | sort -V | tail -n 1)
    [ -n "$jar" ] || return 1
    path=$path:$jar
  done
  echo "${path#:}"
}

# Syntax only, with the compiler that a build fetched through Maven. Without the libraries the compiler always fails, and after
# the syntax check it reports unresolved names.
kotlin_servers() {
  local jdk path sources output kotlin=org/jetbrains/kotlin
  jdk=$(sh servers/java/jdk.sh 2>/dev/null) || return 0
  path=$(jars "$kotlin"/kotlin-{compiler-embeddable,stdlib,script-runtime,reflect,daemon-embeddable} \
    org/jetbrains/annotations org/jetbrains/kotlinx/kotlinx-coroutines-core-jvm) ||
    { echo "- servers/kotlin: skipped, not built"; return 0; }
  mapfile -t sources < <(files '*.kt')
  echo "+ kotlinc: parse ${#sources[@]} files"
  output=$("$jdk/bin/java" -cp "$path" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -d "$target/lint/kotlin" \
    "${sources[@]}" 2>&1) || true
  if grep -A 2 'syntax error: ' <<<"$output" >&2; then return 1; fi
  grep -q 'unresolved reference' <<<"$output" || { printf '%s\n' "$output" >&2; return 1; }
}

# Syntax only, with the compiler that a build fetched through Maven.
scala_servers() {
  local jdk path sources scala=org/scala-lang
  jdk=$(sh servers/java/jdk.sh 2>/dev/null) || return 0
  path=$(jars "$scala"/{scala3-compiler_3,scala3-interfaces,scala3-library_3,tasty-core_3,scala-library,modules/scala-asm} \
    org/scala-sbt/compiler-interface) ||
    { echo "- servers/scala: skipped, not built"; return 0; }
  mapfile -t sources < <(files '*.scala')
  echo "+ scalac: parse ${#sources[@]} files"
  "$jdk/bin/java" -cp "$path" dotty.tools.dotc.Main -usejavacp -Ystop-after:parser \
    -color:never -d "$target/lint" "${sources[@]}"
}

shell_scripts() {
  has shellcheck || return 0
  local scripts
  mapfile -t scripts < <(files '*.sh')
  # SC2115: the servers' build scripts start by checking that RPCBENCH_BUILD_DIR is not empty.
  run shellcheck --severity=warning --exclude=SC2115 .ci/run bench-in-docker "${scripts[@]}"
}

# files PATTERN: source files whose name matches.
files() { find . \( -name target -o -name node_modules -o -path ./build -o -path ./results -o -name .git \) -prune -o -type f -name "$1" -print; }

# Licences and sources of dependencies, and in mode `all` advisories, which needs the network.
dependencies() {
  has python3 && run scripts/licences.py check
  has cargo-deny || return 0
  run cargo deny check licenses bans sources
  [ "$mode" != all ] || run cargo deny check advisories
}

# prose FILE: a document without its code blocks.
prose() { awk '/^ *```/ { code = !code; next } !code' "$1"; }

# Every relative link in a document must lead to a file.
links() {
  echo "+ relative links in *.md"
  local file target broken=0
  while IFS= read -r file; do
    while IFS= read -r target; do
      [ -e "$(dirname "$file")/$target" ] || { echo "$file: broken link to $target" >&2; broken=1; }
    done < <(prose "$file" | grep -oE '\]\([^)]+\)' | sed 's/^](//; s/)$//; s/#.*//' | grep -vE '^(https?:|mailto:|$)' || true)
  done < <(files '*.md')
  return "$broken"
}

# Every source file that a document names must exist.
paths() {
  echo "+ paths in *.md"
  local path missing=0
  while IFS= read -r path; do
    [ -e "$path" ] || { echo "a document names $path, which does not exist" >&2; missing=1; }
  done < <(files '*.md' | xargs grep -ohE '`(contract|crates|scripts|suites|web)/[A-Za-z0-9_./-]+\.[a-z]+`' | tr -d '\140' | sort -u)
  return "$missing"
}

# Tests and fields named in docs/method.md and docs/evidence.md must exist.
method_names() {
  echo "+ tests and fields named in docs/method.md and docs/evidence.md"
  local name missing=0
  while IFS= read -r name; do
    grep -rqE "((fn|def) $name\(|\b$name:|\b$name\b *=|\"$name\")" crates scripts servers suites --include='*.rs' --include='*.toml' --include='*.py' ||
      { echo "docs: no test or field is called $name" >&2; missing=1; }
  done < <(grep -ohE '`[a-z0-9]+(_[a-z0-9]+)+`' docs/method.md docs/evidence.md | tr -d '\140' | sort -u)
  return "$missing"
}

case "$mode" in
  "" | all) ;;
  built) go_servers; cpp_programs; exit ;;
  *) echo "lint.sh: unknown word '$mode'; expected all, built or nothing" >&2; exit 2 ;;
esac
shell_scripts
dependencies
run scripts/words.sh
links
paths
method_names
rust
go_servers
cpp_programs
java_servers
kotlin_servers
scala_servers
node_servers
python_servers
