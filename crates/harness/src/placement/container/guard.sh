#!/bin/sh
# sh -c guard.sh guard ENGINE LABEL
# When standard input ends: removes the containers with that label, also one that is still being started. Frozen ones as well.
read -r _
turns=8
while [ "$turns" -gt 0 ]; do
  # shellcheck disable=SC2046 # one word for each container
  set -- "$1" "$2" $("$1" ps -aq --filter "label=$2")
  if [ "$#" -gt 2 ]; then
    engine=$1 label=$2
    shift 2
    "$engine" rm -f "$@"
    set -- "$engine" "$label"
  fi
  sleep 0.4
  turns=$((turns - 1))
done
