#!/bin/sh
# Prints the version of Grpc.AspNetCore if its packages are available: restored before, or in a NuGet source.
set -eu

export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

if ! command -v dotnet >/dev/null; then
    echo "packages can't be restored: dotnet is not installed"
    exit 1
fi
version=$(sed -n 's/.*Include="Grpc.AspNetCore" Version="\[\(.*\)\]".*/\1/p' grpc.csproj)
# Grpc.AspNetCore is useless without it, and a source may have only one of them.
core=Grpc.Core.Api
restored=${NUGET_PACKAGES:-$HOME/.nuget/packages}/grpc.core.api/$version

if [ -d "$restored" ] ||
    timeout 15 dotnet package search "$core" --exact-match --verbosity minimal | grep -qF " $version "; then
    echo "Grpc.AspNetCore $version"
else
    echo "packages can't be restored here: no source has $core $version"
    exit 1
fi
