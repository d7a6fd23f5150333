#!/bin/sh
# Becomes a Java server or client program: run.sh BUILD_FOLDER MAIN_CLASS|JAR [JVM OPTION...]
#
# JAR, in the build folder, names its main class and its libraries.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$1
main=$2
shift 2

. "$here/../settings.sh"

JAVA_HOME=$(sh "$here/jdk.sh")
export JAVA_HOME
release=$(sh "$here/jdk.sh" release)

# Sizes Netty's event loops, the collector's threads and the compiler's.
set -- "-XX:ActiveProcessorCount=$RPCBENCH_CPUS" "$@"

# Without a cgroup limit the JVM would size its heap by the machine, so it is computed here. Heap: 60 %, initial size = maximum, as is usual if
# the memory belongs to the service. Netty's buffers: 15 %; they are outside the heap, with a default limit as large as the heap's. That
# leaves a quarter (128 MiB of 512) for compiled code, classes, compiler, collector and stacks, which need about 100 MiB under any load.
memory 64 "a JVM"
if [ -n "${RPCBENCH_MEMORY:-}" ]; then
    mebibytes=$((RPCBENCH_MEMORY / 1048576))
    heap=$((mebibytes * 60 / 100))
    set -- "-Xms${heap}m" "-Xmx${heap}m" "-XX:MaxDirectMemorySize=$((mebibytes * 15 / 100))m" "$@"
fi

# ZGC is generational from JDK 21: by this flag, from 23 by default; 24 removed the flag.
for option in "$@"; do
    if [ "$option" = -XX:+UseZGC ] && [ "$release" -ge 21 ] && [ "$release" -le 22 ]; then
        set -- "$@" -XX:+ZGenerational
    fi
done

# Netty loads its epoll transport as native code, and Scala's library uses sun.misc.Unsafe: JDK 24 and later warn on stderr unless it
# is allowed.
if [ "$release" -ge 24 ]; then
    set -- --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow "$@"
fi

# Runtime statistics, if the harness asks for them: an agent writes them, with pauses from the JVM's own log.
if [ -n "${RPCBENCH_RUNTIME_LOG:-}" ]; then
    log=$RPCBENCH_RUNTIME_LOG.jvm
    # A container has the one file.
    [ -w "${log%/*}" ] || log=/tmp/jvm.log
    rm -f "$log"
    set -- "-Xlog:gc,gc+phases:file=\"$log\":timenanos:filecount=0" "-javaagent:$build/statistics/agent.jar=$log" "$@"
fi

case $main in
    *.jar) set -- "$@" -jar "$build/$main" ;;
    *)
        jar=$build/server.jar
        [ -f "$jar" ] || jar=$build/client.jar
        set -- "$@" -cp "$jar:$build/lib/*" "$main"
        ;;
esac

# A JVM out of memory exits rather than limp on.
exec "$JAVA_HOME/bin/java" -XX:+ExitOnOutOfMemoryError "$@"
