#!/bin/sh
# sh -c guard.sh guard ENGINE LABEL
# When standard input ends: removes the containers with that label, also one that is still being started. Frozen ones as well.
# Waits for a daemon that restarts.
read -r _
turns=8 failures=150
while [ "$turns" -gt 0 ] && [ "$failures" -gt 0 ]; do
  if left=$("$1" ps -aq --filter "label=$2"); then
    # shellcheck disable=SC2086 # one word for each container
    [ -z "$left" ] || "$1" rm -f -v $left
    turns=$((turns - 1))
  else
    failures=$((failures - 1))
  fi
  sleep 0.4
done
