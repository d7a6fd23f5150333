#!/usr/bin/env bash
# Formatting and lints: the workspace, the Rust servers, and the other languages' servers with what ships with their toolchains.
#
#   lint.sh          all of it
#   lint.sh built    those in Go and C++, whose generated code lies where they were built
set -euo pipefail
cd "$(dirname "$0")/.."

has() { command -v "$1" >/dev/null 2>&1; }

run() {
  echo "+ $*"
  "$@"
}

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/lint"

rust() {
  run cargo fmt --all --check
  run cargo clippy --workspace --all-targets --locked -- -D warnings
  local server
  for server in servers/rust/*/; do
    run cargo fmt --manifest-path "${server}Cargo.toml" --check
    echo "+ cargo clippy in $server"
    (cd "$server" && RPCBENCH_BUILD_DIR=$OLDPWD/build/servers/lint sh ../build.sh lint)
  done
}

# Go only where it is as new as the manifest asks for (an older one refuses the modules), and generated code only where it was built.
go_servers() {
  has go || return 0
  local folder work unformatted
  for folder in servers/go/*/; do
    # The workspace of a server's last build has its generated code.
    work=$PWD/build/servers/go-$(basename "$folder")/go.work
    [ -f "$work" ] || work=
    if ! (cd "$folder" && GOWORK=$work go list -deps ./... >/dev/null 2>&1); then
      echo "- $folder: not linted, $(cd "$folder" && GOWORK=$work go list -deps ./... 2>&1 >/dev/null | head -n 1)"
      continue
    fi
    (cd "$folder" && GOWORK=$work run go vet ./...)
  done
  echo "+ gofmt -l servers/go"
  unformatted=$(gofmt -l servers/go)
  [ -z "$unformatted" ] || { printf 'gofmt would change:\n%s\n' "$unformatted" >&2; return 1; }
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

# As Go: with the headers that a server's last build has generated.
cpp_servers() {
  has g++ || return 0
  local folder build
  for folder in servers/cpp/[!_]*/; do
    build=build/servers/cpp-$(basename "$folder")
    [ -d "$build" ] || { echo "- $folder: not linted, as it was not built"; continue; }
    run g++ -std=c++17 -fsyntax-only -Wall -Wextra -Werror -I servers/cpp -isystem "$build" "${folder}main.cc"
  done
}

# The syntax alone, as the libraries are Maven's to find.
java_servers() {
  local jdk sources
  jdk=$(sh servers/java/jdk.sh 2>/dev/null) || return 0
  mapfile -t sources < <(files '*.java')
  echo "+ javac: parse ${#sources[@]} files"
  "$jdk/bin/javac" -proc:none -XDshould-stop.ifNoError=PARSE -d "$target/lint" "${sources[@]}"
}

maven=${HOME:-}/.m2/repository

# jars ARTIFACT...: the newest jar of each that Maven has, as a class path; fails where one is missing.
jars() {
  local artifact jar path=
  for artifact in "$@"; do
    jar=$(find "$maven/$artifact" -name '*.jar' ! -name '*-sources.jar' 2>/dev/null | sort -V | tail -n 1)
    [ -n "$jar" ] || return 1
    path=$path:$jar
  done
  echo "${path#:}"
}

# The syntax alone, with the compiler that Maven has fetched for a build. Without the libraries it fails in any case, and past
# the syntax it misses names.
kotlin_servers() {
  local jdk path sources said kotlin=org/jetbrains/kotlin
  jdk=$(sh servers/java/jdk.sh 2>/dev/null) || return 0
  path=$(jars "$kotlin"/kotlin-{compiler-embeddable,stdlib,script-runtime,reflect,daemon-embeddable} \
    org/jetbrains/annotations org/jetbrains/kotlinx/kotlinx-coroutines-core-jvm) ||
    { echo "- servers/kotlin: not parsed, as it was not built"; return 0; }
  mapfile -t sources < <(files '*.kt')
  echo "+ kotlinc: parse ${#sources[@]} files"
  said=$("$jdk/bin/java" -cp "$path" org.jetbrains.kotlin.cli.jvm.K2JVMCompiler -no-stdlib -no-reflect -d "$target/lint/kotlin" \
    "${sources[@]}" 2>&1) || true
  if grep -A 2 'syntax error: ' <<<"$said" >&2; then return 1; fi
  grep -q 'unresolved reference' <<<"$said" || { printf '%s\n' "$said" >&2; return 1; }
}

# The same.
scala_servers() {
  local jdk path sources scala=org/scala-lang
  jdk=$(sh servers/java/jdk.sh 2>/dev/null) || return 0
  path=$(jars "$scala"/{scala3-compiler_3,scala3-interfaces,scala3-library_3,tasty-core_3,scala-library,modules/scala-asm} \
    org/scala-sbt/compiler-interface) ||
    { echo "- servers/scala: not parsed, as it was not built"; return 0; }
  mapfile -t sources < <(files '*.scala')
  echo "+ scalac: parse ${#sources[@]} files"
  "$jdk/bin/java" -cp "$path" dotty.tools.dotc.Main -usejavacp -Ystop-after:parser \
    -color:never -d "$target/lint" "${sources[@]}"
}

shell_scripts() {
  has shellcheck || return 0
  local scripts
  mapfile -t scripts < <(files '*.sh')
  # SC2115: the servers' build scripts check at their top that RPCBENCH_BUILD_DIR is not empty.
  run shellcheck --severity=warning --exclude=SC2115 .ci/run "${scripts[@]}"
}

# files PATTERN: files of the project whose names match, but nothing that was built.
files() { find . \( -name target -o -name node_modules -o -path ./build -o -path ./results -o -name .git \) -prune -o -type f -name "$1" -print; }

# prose FILE: a document without its blocks of code.
prose() { awk '/^ *```/ { code = !code; next } !code' "$1"; }

# links: every relative link in the documents leads to a file.
links() {
  echo "+ relative links in *.md"
  local file target broken=0
  while IFS= read -r file; do
    while IFS= read -r target; do
      [ -e "$(dirname "$file")/$target" ] || { echo "$file: there is no $target" >&2; broken=1; }
    done < <(prose "$file" | grep -oE '\]\([^)]+\)' | sed 's/^](//; s/)$//; s/#.*//' | grep -vE '^(https?:|mailto:|$)' || true)
  done < <(files '*.md')
  return "$broken"
}

# method_names: every test and field that docs/method.md names is in the code.
method_names() {
  echo "+ tests and fields named in docs/method.md"
  local name missing=0
  while IFS= read -r name; do
    grep -rqE "(fn $name\(|\b$name:|\b$name\b *=|\"$name\")" crates servers suites --include='*.rs' --include='*.toml' ||
      { echo "docs/method.md: there is no $name" >&2; missing=1; }
  done < <(grep -oE '`[a-z0-9]+(_[a-z0-9]+)+`' docs/method.md | tr -d '\140' | sort -u)
  return "$missing"
}

case "${1:-}" in
  "") ;;
  built) go_servers; cpp_servers; exit ;;
  *) echo "lint.sh: unknown word '$1'; known: built" >&2; exit 2 ;;
esac
shell_scripts
links
method_names
rust
go_servers
cpp_servers
java_servers
kotlin_servers
scala_servers
node_servers
python_servers
