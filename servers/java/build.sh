#!/bin/sh
# Builds the Java server or client program in the current folder into RPCBENCH_BUILD_DIR: server.jar or client.jar, its libraries in lib/,
# whose checksums must be those in dependencies.lock, and run.sh's agent in statistics/. Quarkus puts program and libraries into quarkus-app/.
#
#   build.sh          builds, and fails if a library differs from the lock
#   build.sh lock     builds, and rewrites dependencies.lock
set -eu

: "${RPCBENCH_BUILD_DIR:?not set: the folder to build into}"
: "${RPCBENCH_CONTRACT:?not set: the folder of echo.proto}"

here=$(cd "$(dirname "$0")" && pwd)
server=$(pwd)
lock=$server/dependencies.lock
JAVA_HOME=$(sh "$here/jdk.sh")
export JAVA_HOME

# Otherwise files of an older build would be checked, packed and loaded.
rm -rf "$RPCBENCH_BUILD_DIR/lib" "$RPCBENCH_BUILD_DIR/quarkus-app" "$RPCBENCH_BUILD_DIR/target"
mvn --batch-mode --no-transfer-progress --quiet --strict-checksums --file "$server/pom.xml" package

sh "$here/agent.sh"

# found: the checksum of each library, in the format of sha256sum.
libraries=$RPCBENCH_BUILD_DIR/lib
[ -d "$libraries" ] || libraries=$RPCBENCH_BUILD_DIR/quarkus-app/lib
cd "$libraries"
found=$(LC_ALL=C; export LC_ALL; find . -name '*.jar' | cut -c3- | sort | while read -r file; do sha256sum "$file"; done)

if [ "${1:-}" = lock ]; then
    printf '%s\n' "$found" >"$lock"
    exit 0
fi
if ! printf '%s\n' "$found" | diff -u "$lock" - >&2; then
    echo "$lock: the libraries that Maven resolved (+) are not the locked ones (-);" \
        "if the change is intended, rewrite the lock with 'build.sh lock'" >&2
    exit 1
fi
