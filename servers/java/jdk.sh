#!/bin/sh
# Finds the newest JDK, 17 or later, in JAVA_HOME, on the PATH and in /usr/lib/jvm, so that the version check, the build and the run use the
# same one.
#
#   jdk.sh            prints its folder
#   jdk.sh version    prints its version
#   jdk.sh release    prints the first number of its version
set -eu

minimum=17

# version_of FOLDER: the version in a JDK's `release` file, which every JDK since 9 has.
version_of() {
    sed -n 's/^JAVA_VERSION="\([^"]*\)".*/\1/p' "$1/release" 2>/dev/null || true
}

# rank_of VERSION: 25.0.3 as one number that sorts.
rank_of() {
    printf '%s\n' "$1" | sed 's/[^0-9.].*//' | awk -F. '{ printf "%d%04d%04d", $1, $2, $3 }'
}

# candidates: one folder per line. Of equal versions the first wins.
candidates() {
    [ -z "${JAVA_HOME:-}" ] || printf '%s\n' "$JAVA_HOME"
    if javac=$(command -v javac); then
        dirname "$(dirname "$(readlink -f "$javac")")"
    fi
    for folder in /usr/lib/jvm/*; do
        printf '%s\n' "$folder"
    done
}

best_folder=
best_version=
best_rank=0
while IFS= read -r folder; do
    [ -x "$folder/bin/java" ] && [ -x "$folder/bin/javac" ] || continue
    version=$(version_of "$folder")
    [ -n "$version" ] && [ "${version%%[!0-9]*}" -ge "$minimum" ] || continue
    rank=$(rank_of "$version")
    if [ "$rank" -gt "$best_rank" ]; then
        best_folder=$folder
        best_version=$version
        best_rank=$rank
    fi
done <<EOF
$(candidates)
EOF

if [ -z "$best_folder" ]; then
    echo "no JDK $minimum or newer in JAVA_HOME (${JAVA_HOME:-unset}), on the PATH or in /usr/lib/jvm" >&2
    exit 1
fi

case "${1:-}" in
    "") printf '%s\n' "$best_folder" ;;
    version) printf '%s\n' "$best_version" ;;
    release) printf '%s\n' "${best_version%%[!0-9]*}" ;;
    *) echo "jdk.sh: unknown argument '$1'; expected version or release" >&2; exit 2 ;;
esac
