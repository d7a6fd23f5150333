# shellcheck shell=sh
# Checks the settings of server and client programs, for launchers (run.sh), which source this. `here` is the folder of their language.

fail() {
    echo "$(basename "${here:?}"): $1" >&2
    exit 1
}

# whole NAME VALUE MAXIMUM: ends the script unless the value is a whole number from 1 to MAXIMUM.
whole() {
    case "$2" in
        "" | *[!0-9]*) fail "$1='$2': must be a whole number" ;;
    esac
    [ "${#2}" -le 18 ] && [ "$2" -ge 1 ] && [ "$2" -le "$3" ] || fail "$1='$2': must be from 1 to $3"
}

# memory MINIMUM WHO: ends the script if there is a memory limit and it is below MINIMUM MiB, which WHO needs.
memory() {
    [ -n "${RPCBENCH_MEMORY:-}" ] || return 0
    whole RPCBENCH_MEMORY "$RPCBENCH_MEMORY" 999999999999999999
    [ "$RPCBENCH_MEMORY" -ge $(($1 * 1048576)) ] ||
        fail "RPCBENCH_MEMORY='$RPCBENCH_MEMORY': $2 needs $1 MiB ($(($1 * 1048576))) or more"
}

# Client programs have a socket instead of a port.
if [ -z "${RPCBENCH_SOCKET:-}" ]; then
    [ -n "${RPCBENCH_HOST:-}" ] || fail "RPCBENCH_HOST is not set"
    [ -n "${RPCBENCH_PORT:-}" ] || fail "RPCBENCH_PORT is not set"
    whole RPCBENCH_PORT "$RPCBENCH_PORT" 65535
fi
[ -n "${RPCBENCH_CPUS:-}" ] || fail "RPCBENCH_CPUS is not set"
whole RPCBENCH_CPUS "$RPCBENCH_CPUS" 65535
