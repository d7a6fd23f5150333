#!/bin/sh
# Builds the Go server in the current folder into RPCBENCH_BUILD_DIR. What is generated from the contract lies there as well, a module
# of its own: rpcbench.dev/contract, which a workspace shows to Go. protoc's plugins and Kitex are tools that the server's go.mod
# names; Apache's compiler is the distribution's.
#
#   build.sh          builds
#   build.sh lock     writes go.mod and go.sum anew
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.proto and echo.thrift}"

# Where a distribution has switched that off, Go fetches the release that go.mod asks for all the same.
export GOTOOLCHAIN="${GOTOOLCHAIN:-auto}"

build=$RPCBENCH_BUILD_DIR
contract=rpcbench.dev/contract

# A lock file that is written anew may lack the packages of the tools, until Go has added them.
mods="readonly"
[ "${1:-}" != lock ] || mods=mod

# The generated module has the requirements of the server's, and so its versions.
generated_module() {
    rm -rf "$build/contract" "$build/tools"
    mkdir "$build/contract"
    sed -e '/^tool (/,/^)/d' -e '/^tool /d' go.mod >"$build/contract/go.mod"
    go mod edit "-module=$contract" -droprequire=rpcbench.dev/servers/go/service \
        -dropreplace=rpcbench.dev/servers/go/service "$build/contract/go.mod"
    printf '%s\n\nuse (\n\t%s\n\t%s\n)\n' "$(grep '^go ' go.mod)" "$PWD" "$build/contract" >"$build/go.work"
}

tools() { GOBIN="$build/tools" go install "-mod=$mods" -trimpath -buildvcs=false tool; }

# Messages and stubs in one package. vtprotobuf's code has no pools: grpc-go encodes a reply after its handler has returned, so no
# handler could give a message back. connect's takes plain messages as arguments, as the library's guide has it.
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
    # Without a workspace the generated module must be named, and forgotten again.
    unset GOWORK
    if [ -n "$compiler" ]; then
        go mod edit "-require=$contract@v0.0.0" "-replace=$contract=$build/contract"
    fi
    locked=0
    go mod tidy || locked=$?
    go mod edit "-droprequire=$contract" "-dropreplace=$contract"
    exit "$locked"
fi

# Go's own defaults: no linker or compiler flag, no profile-guided optimisation. -trimpath keeps the folder's path out of the binary;
# -buildvcs=false lets a build run in a checkout that belongs to another user.
exec go build -mod=readonly -trimpath -buildvcs=false -o "$build/server" .
