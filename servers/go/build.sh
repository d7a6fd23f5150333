#!/bin/sh
# Builds the Go server in the current folder into RPCBENCH_BUILD_DIR. Where it is one of Thrift, what Thrift's compiler makes of the
# contract lies there as well, a module of its own: rpcbench.dev/contract, which a workspace shows to Go.
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

if runtime=$(grep '^require github.com/apache/thrift ' go.mod); then
    rm -rf "$build/contract"
    mkdir "$build/contract"
    thrift -gen go:skip_remote -out "$build/contract" "$RPCBENCH_CONTRACT/echo.thrift"
    version=$(grep '^go ' go.mod)
    printf 'module rpcbench.dev/contract\n\n%s\n\n%s\n' "$version" "$runtime" >"$build/contract/go.mod"
    printf '%s\n\nuse (\n\t%s\n\t%s\n)\n' "$version" "$PWD" "$build/contract" >"$build/go.work"
    export GOWORK="$build/go.work"
fi
if [ "${1:-}" = lock ]; then
    # Without a workspace the generated module must be named, and forgotten again.
    unset GOWORK
    if [ -n "${runtime:-}" ]; then
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
