#!/usr/bin/env bash
# Derives what is generated and committed again, in a copy, and compares: the template of the HTML page, where npm is, and
# Go's code, where Go and protoc are.
set -euo pipefail
cd "$(dirname "$0")/.."

# page: crates/report/assets/report.html is what web/ gives.
page() {
  if ! command -v npm >/dev/null; then
    echo "crates/report/assets/report.html: not compared, which needs npm"
    return
  fi
  (cd web && npm ci --silent --no-audit --no-fund && npm run --silent build >/dev/null)
  cmp web/dist/report.html crates/report/assets/report.html || {
    echo "crates/report/assets/report.html is not what web/ gives: run 'make page' and commit the result" >&2
    return 1
  }
  echo "crates/report/assets/report.html: as web/ gives it"
}
page

folders=(servers/go/*/echopb)

if ! command -v protoc >/dev/null || ! (cd "${folders[0]}" && go list >/dev/null 2>&1); then
  echo "${folders[*]}: not compared, which needs protoc and the Go that servers/go/_language.toml asks for"
  exit 0
fi

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/servers"
cp -R contract "$copy"
cp -R servers/go "$copy/servers"
rm "$copy"/servers/go/*/echopb/*.pb.go
sh "$copy/servers/go/generate.sh"

# The header names the protoc that was used, which may differ.
without_protoc() { sed -i -E '/^\/\/ (- )?[[:space:]]*protoc +v/d' "$1"/*.pb.go; }

differing=0
for folder in "${folders[@]}"; do
  rm -rf "$copy/committed"
  cp -R "$folder" "$copy/committed"
  without_protoc "$copy/committed"
  without_protoc "$copy/$folder"
  if diff -ru "$copy/committed" "$copy/$folder"; then
    echo "$folder: as contract/echo.proto gives it"
  else
    echo "$folder is not what contract/echo.proto gives: run servers/go/generate.sh and commit the result" >&2
    differing=1
  fi
done
exit "$differing"
