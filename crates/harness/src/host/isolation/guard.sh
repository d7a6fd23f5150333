#!/bin/sh
# sh -c guard.sh guard PREFIX FREEZER HIERARCHY...
# When standard input ends: kills what is left in the groups FREEZER/PREFIX*, and removes the groups PREFIX* of each
# hierarchy. A frozen process dies only when it is thawed, and one that forks is killed in a later turn.
read -r _
prefix=$1 freezer=$2
shift 2
for group in "$freezer/$prefix"*; do
  turns=100
  while [ "$turns" -gt 0 ] && pids=$(cat "$group/cgroup.procs") && [ -n "$pids" ]; do
    # shellcheck disable=SC2086 # one word for each process
    kill -KILL $pids
    echo THAWED >"$group/freezer.state"
    sleep 0.05
    turns=$((turns - 1))
  done
done
for hierarchy; do
  rmdir "$hierarchy/$prefix"*
done
