#!/bin/sh
# Builds the .NET server in the current folder into RPCBENCH_BUILD_DIR, with the packages that its lock file names.
#
#   build.sh          builds
#   build.sh lock     writes packages.lock.json anew
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.proto}"

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE=1
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 # the SDK would ask for ICU

if [ "${1:-}" = lock ]; then
    exec dotnet restore --force-evaluate -p:RestoreLockedMode=false --disable-build-servers
fi

# Left-overs of an older build would otherwise run with the rest.
rm -rf "$RPCBENCH_BUILD_DIR/artifacts" "$RPCBENCH_BUILD_DIR/app"
# No build server stays behind to take CPU time from what is measured next.
dotnet publish --configuration Release --output "$RPCBENCH_BUILD_DIR/app" --disable-build-servers
