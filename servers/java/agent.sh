#!/bin/sh
# Builds the agent for runtime statistics into RPCBENCH_BUILD_DIR: statistics/agent.jar.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
agent=${RPCBENCH_BUILD_DIR:?not set: the folder to build into}/statistics
jdk=$(sh "$here/jdk.sh")

rm -rf "$agent"
mkdir "$agent"
"$jdk/bin/javac" --release 17 -d "$agent" "$here/statistics/RuntimeLog.java"
echo "Premain-Class: RuntimeLog" >"$agent/manifest"
"$jdk/bin/jar" --create --file "$agent/agent.jar" --manifest "$agent/manifest" -C "$agent" RuntimeLog.class
