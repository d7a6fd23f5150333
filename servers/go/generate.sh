#!/bin/sh
# Regenerates the messages and stubs of every Go server from contract/echo.proto: each library's lie in a folder echopb of its
# own, so that no server links another's library. Only needed after the contract has changed: the result is committed, so
# that building a Go server needs no protoc. Needs Go and protoc (Debian: apt-get install protobuf-compiler).
set -eu
cd "$(dirname "$0")"
contract=../../contract
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
PATH=$plugins:$PATH
GOBIN=$plugins go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$plugins go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
GOBIN=$plugins go install github.com/planetscale/vtprotobuf/cmd/protoc-gen-go-vtproto@v0.6.1-0.20240319094008-0393e58bdf10
GOBIN=$plugins go install connectrpc.com/connect/cmd/protoc-gen-connect-go@v1.21.1

# generate SERVER STUBS [OPTION...]: the messages, and what the plugin protoc-gen-STUBS makes of the service.
generate() {
  server=$1
  stubs=$2
  shift 2
  protoc -I "$contract" --go_out="$server/echopb" --go_opt=paths=source_relative \
    "--${stubs}_out=$server/echopb" "--${stubs}_opt=paths=source_relative" "$@" "$contract/echo.proto"
}

generate grpc go-grpc
# Beside the messages, the code that encodes and decodes them. No pools: grpc-go encodes a reply after its handler has returned,
# so no handler could give a message back.
generate grpc-vtprotobuf go-grpc --go-vtproto_out=grpc-vtprotobuf/echopb \
  --go-vtproto_opt=paths=source_relative,features=marshal+unmarshal+size
# Into the package of the messages; plain messages as arguments, as the library's guide has it.
generate connect connect-go --connect-go_opt=package_suffix --connect-go_opt=simple
