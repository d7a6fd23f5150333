#!/bin/sh
# Builds the Go server or client program in the current folder into RPCBENCH_BUILD_DIR. Code generated from the contract goes there too,
# as the module rpcbench.dev/contract in a Go workspace. protoc's plugins and Kitex are tools in the server's go.mod; Apache's compiler is
# the distribution's.
#
#   build.sh          builds
#   build.sh lock     rewrites go.mod and go.sum
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.proto and echo.thrift}"

# Fetch the Go release that go.mod requires, even if a distribution has disabled that.
export GOTOOLCHAIN="${GOTOOLCHAIN:-auto}"

build=$RPCBENCH_BUILD_DIR
contract=rpcbench.dev/contract

# While the lock file is rewritten, Go may add the tools' packages to it.
mod="readonly"
[ "${1:-}" != lock ] || mod=mod

# The generated module has the program's requirements, for the same versions, except this repository's modules.
generated_module() {
    rm -rf "$build/contract" "$build/tools"
    mkdir "$build/contract"
    sed -e '/^tool (/,/^)/d' -e '/^tool /d' go.mod >"$build/contract/go.mod"
    go mod edit "-module=$contract" "$build/contract/go.mod"
    for module in servers/go/service clients/go/driver clients/go/messages; do
        go mod edit "-droprequire=rpcbench.dev/$module" "-dropreplace=rpcbench.dev/$module" "$build/contract/go.mod"
    done
    printf '%s\n\nuse (\n\t%s\n\t%s\n)\n' "$(grep '^go ' go.mod)" "$PWD" "$build/contract" >"$build/go.work"
}

tools() { GOBIN="$build/tools" go install "-mod=$mod" -trimpath -buildvcs=false tool; }

# Messages and stubs in one package. vtprotobuf's code has no pools: grpc-go encodes a reply after its handler has returned, so the
# handler can't put the message back. connect's code takes plain messages as arguments, as in the library's guide.
protobuf() {
    mkdir "$build/contract/echopb"
    for plugin in "$build"/tools/protoc-gen-*; do
        name=${plugin##*/protoc-gen-}
        options=paths=source_relative
        case $name in
            go-vtproto) options=$options,features=marshal+unmarshal+size ;;
            connect-go) options=$options,package_suffix,simple ;;
        esac
        set -- "$@" "--${name}_out=$options:$build/contract/echopb"
    done
    PATH="$build/tools:$PATH" protoc -I "$RPCBENCH_CONTRACT" "$@" "$RPCBENCH_CONTRACT/echo.proto"
}

kitex() {
    (cd "$build/contract" && "$build/tools/kitex" -module "$contract" -gen-path . -no-dependency-check "$RPCBENCH_CONTRACT/echo.thrift")
}

apache_thrift() { thrift -gen go:skip_remote -out "$build/contract" "$RPCBENCH_CONTRACT/echo.thrift"; }

compiler=
! grep -q 'github.com/apache/thrift v' go.mod || compiler=apache_thrift
! grep -q 'github.com/cloudwego/kitex/tool' go.mod || compiler=kitex
! grep -q 'cmd/protoc-gen-go$' go.mod || compiler=protobuf

if [ -n "$compiler" ]; then
    generated_module
    [ "$compiler" = apache_thrift ] || tools
    "$compiler"
    export GOWORK="$build/go.work"
fi
if [ "${1:-}" = lock ]; then
    # go mod tidy ignores the workspace, so the generated module is required until it has run.
    unset GOWORK
    if [ -n "$compiler" ]; then
        go mod edit "-require=$contract@v0.0.0" "-replace=$contract=$build/contract"
    fi
    status=0
    go mod tidy || status=$?
    go mod edit "-droprequire=$contract" "-dropreplace=$contract"
    exit "$status"
fi

# Go's own defaults: no linker or compiler flag, no profile-guided optimisation. -trimpath keeps the folder's path out of the binary;
# -buildvcs=false allows builds in a checkout of another user.
program=server
! grep -q '^module rpcbench.dev/clients/' go.mod || program=client
exec go build -mod=readonly -trimpath -buildvcs=false -o "$build/$program" .
