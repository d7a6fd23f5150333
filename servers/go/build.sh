#!/bin/sh
# Builds the Go server in the current folder into RPCBENCH_BUILD_DIR. Where it is one of Thrift, what its compiler makes of the
# contract lies there as well, a module of its own: rpcbench.dev/contract, which a workspace shows to Go. The compiler is Apache's,
# or Kitex's, a tool that the server's go.mod names.
#
#   build.sh          builds
#   build.sh lock     writes go.mod and go.sum anew
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.thrift}"

# Where a distribution has switched that off, Go fetches the release that go.mod asks for all the same.
export GOTOOLCHAIN="${GOTOOLCHAIN:-auto}"

build=$RPCBENCH_BUILD_DIR
contract=rpcbench.dev/contract

# A lock file that is written anew may lack the packages of the tool, until Go has added them.
mods="readonly"
[ "${1:-}" != lock ] || mods=mod

# The generated module has the requirements of the server's, and so its versions.
generated_module() {
    rm -rf "$build/contract"
    mkdir "$build/contract"
    cp go.mod "$build/contract/go.mod"
    go mod edit "-module=$contract" -droptool=github.com/cloudwego/kitex/tool/cmd/kitex \
        -droprequire=rpcbench.dev/servers/go/service -dropreplace=rpcbench.dev/servers/go/service "$build/contract/go.mod"
    printf '%s\n\nuse (\n\t%s\n\t%s\n)\n' "$(grep '^go ' go.mod)" "$PWD" "$build/contract" >"$build/go.work"
}

compiler=
! grep -q 'github.com/apache/thrift v' go.mod || compiler=apache
! grep -q 'github.com/cloudwego/kitex v' go.mod || compiler=kitex

if [ -n "$compiler" ]; then
    generated_module
    if [ "$compiler" = apache ]; then
        thrift -gen go:skip_remote -out "$build/contract" "$RPCBENCH_CONTRACT/echo.thrift"
    else
        go build "-mod=$mods" -trimpath -buildvcs=false -o "$build/kitex" github.com/cloudwego/kitex/tool/cmd/kitex
        (cd "$build/contract" && "$build/kitex" -module "$contract" -gen-path . -no-dependency-check "$RPCBENCH_CONTRACT/echo.thrift")
    fi
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
