#!/usr/bin/env bash
# Derives the committed generated code again, in a copy, and compares: only Go's, and only where Go and protoc are installed.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v protoc >/dev/null || ! (cd servers/go/echopb && go list >/dev/null 2>&1); then
  echo "servers/go/echopb: not compared, which needs protoc and the Go that servers/go/_language.toml asks for"
  exit 0
fi

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/servers"
cp -R contract "$copy"
cp -R servers/go "$copy/servers"
rm "$copy"/servers/go/echopb/*.pb.go
sh "$copy/servers/go/generate.sh"

# The header names the protoc that was used, which may differ.
without_protoc() { sed -i -E '/^\/\/ (- )?[[:space:]]*protoc +v/d' "$@"; }
cp -R servers/go/echopb "$copy/committed"
without_protoc "$copy"/committed/*.pb.go "$copy"/servers/go/echopb/*.pb.go
if ! diff -ru "$copy/committed" "$copy/servers/go/echopb"; then
  echo "servers/go/echopb is not what contract/echo.proto gives: run servers/go/generate.sh and commit the result" >&2
  exit 1
fi
echo "servers/go/echopb: as contract/echo.proto gives it"
