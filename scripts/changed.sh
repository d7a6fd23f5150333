#!/usr/bin/env bash
# Finds what this branch or the work tree changes.
#
#   changed.sh           prints changed servers, as patterns for `rpcbench check`, one a line
#   changed.sh PATH...   succeeds if anything below the paths has changed, or without an earlier commit to compare with
#   changed.sh --files PATH...   prints the changed files below the paths
#
# Compares with RPCBENCH_TEST_BASE if set, otherwise with the commit at which the branch left the upstream of main, or main. On main
# itself and in a fresh clone that is HEAD.
set -euo pipefail
cd "$(dirname "$0")/.."

# base: prints the commit to compare with.
base() {
  local branch
  for branch in ${RPCBENCH_TEST_BASE:+"$RPCBENCH_TEST_BASE"} 'main@{upstream}' main HEAD; do
    if git merge-base HEAD "$branch" 2>/dev/null; then return; fi
  done
}

# servers_of FILE: prints the patterns of servers that the file is part of.
servers_of() {
  local language folder
  IFS=/ read -r _ language folder _ <<<"$1"
  case "$1" in
    contract/echo.* | servers/_defaults.toml | servers/settings.sh | servers/nginx/*) echo '*' ;;
    servers/_* | servers/*/_new/*) ;;
    servers/*)
      if [ -f "servers/$language/$folder/server.toml" ]; then
        echo "$language-$folder*"
      elif [ "$language" = java ]; then
        # Kotlin and Scala use Java's scripts.
        printf '%s\n' 'java-*' 'kotlin-*' 'scala-*'
      elif [ -d "servers/$language" ]; then
        echo "$language-*"
      fi
      ;;
  esac
}

changes() {
  git rev-parse --git-dir >/dev/null 2>&1 || return 0
  git diff --name-only "$(base)" -- "$@"
  git ls-files --others --exclude-standard -- "$@"
}

if [ "${1:-}" = --files ]; then
  shift
  changes "$@"
  exit
fi
if [ $# -gt 0 ]; then
  [ "$(base)" = "$(git rev-parse HEAD 2>/dev/null)" ] || [ -n "$(changes "$@")" ]
  exit
fi
changes | while IFS= read -r file; do servers_of "$file"; done | sort -u
