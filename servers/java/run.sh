#!/bin/sh
# Runs a Java server or client program in this process: run.sh BUILD_FOLDER MAIN_CLASS|JAR [JVM OPTION...]
#
# JAR is a path in the build folder; its manifest names the main class and the libraries.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$1
main=$2
shift 2

. "$here/../settings.sh"

JAVA_HOME=$(sh "$here/jdk.sh")
export JAVA_HOME
release=$(sh "$here/jdk.sh" release)

# Sizes Netty's event loops and the threads of the collector and the compiler.
set -- "-XX:ActiveProcessorCount=$RPCBENCH_CPUS" "$@"

# Without a cgroup limit the JVM would size its heap by the machine. Heap: 60 %, initial size = maximum, as is usual if the memory belongs
# to the service. Netty's buffers, which are outside the heap, 15 %; by default their limit would be as large as the heap. That leaves a
# quarter (128 MiB of 512) for compiled code, classes, compiler, collector and stacks, which need about 100 MiB under any load.
memory 64 "a JVM"
if [ -n "${RPCBENCH_MEMORY:-}" ]; then
    mebibytes=$((RPCBENCH_MEMORY / 1048576))
    heap=$((mebibytes * 60 / 100))
    set -- "-Xms${heap}m" "-Xmx${heap}m" "-XX:MaxDirectMemorySize=$((mebibytes * 15 / 100))m" "$@"
fi

# ZGC is generational from JDK 21 on: with this flag in 21 and 22, by default from 23 on. JDK 24 removed the flag.
for option in "$@"; do
    if [ "$option" = -XX:+UseZGC ] && [ "$release" -ge 21 ] && [ "$release" -le 22 ]; then
        set -- "$@" -XX:+ZGenerational
    fi
done

# Netty loads its epoll transport as native code, and Scala's library uses sun.misc.Unsafe: JDK 24 and later warn on stderr unless both
# are allowed.
if [ "$release" -ge 24 ]; then
    set -- --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow "$@"
fi

# The runtime log, if the harness requests it: an agent writes it, with pauses from the JVM's log.
if [ -n "${RPCBENCH_RUNTIME_LOG:-}" ]; then
    log=$RPCBENCH_RUNTIME_LOG.jvm
    # In a container, only RPCBENCH_RUNTIME_LOG itself is mounted.
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

# When out of memory, exit rather than limp on.
exec "$JAVA_HOME/bin/java" -XX:+ExitOnOutOfMemoryError "$@"
