#!/bin/sh
# Builds the .NET server or client program in the current folder into RPCBENCH_BUILD_DIR, with the packages of its lock file.
#
#   build.sh [native-aot]         builds; native-aot: to machine code, with packages.native-aot.lock.json
#   build.sh lock [native-aot]    rewrites the lock file
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.proto}"

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE=1
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 # the SDK would require ICU

lock=
if [ "${1:-}" = lock ]; then
    lock=yes
    shift
fi

if [ "${1:-}" = native-aot ]; then
    [ -n "$lock" ] || [ "$(uname -m)" = x86_64 ] || {
        echo "build.sh: native-aot is locked for x86-64, and this is $(uname -m); use another variant, such as server-gc" >&2
        exit 1
    }
    # Machine code is for one platform. It has a separate lock file, since the compiler and the runtime are packages.
    set -- -p:PublishAot=true -p:RuntimeIdentifier=linux-x64 -p:NuGetLockFilePath=packages.native-aot.lock.json
fi

if [ -n "$lock" ]; then
    exec dotnet restore --force-evaluate -p:RestoreLockedMode=false --disable-build-servers "$@"
fi

# Otherwise files of an older build could be loaded.
rm -rf "$RPCBENCH_BUILD_DIR/artifacts" "$RPCBENCH_BUILD_DIR/app"
# A build server that keeps running would take CPU time from the next measurement.
dotnet publish --configuration Release --output "$RPCBENCH_BUILD_DIR/app" --disable-build-servers "$@"
