#!/bin/sh
# Regenerates echopb/ from contract/echo.proto. Only needed after the contract has changed: the result is committed,
# so that building a Go server needs no protoc. Needs Go and protoc (Debian: apt-get install protobuf-compiler).
set -eu
cd "$(dirname "$0")"
contract=../../contract
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
GOBIN=$plugins go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$plugins go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
PATH=$plugins:$PATH protoc -I "$contract" \
  --go_out=echopb --go_opt=paths=source_relative \
  --go-grpc_out=echopb --go-grpc_opt=paths=source_relative \
  "$contract/echo.proto"
