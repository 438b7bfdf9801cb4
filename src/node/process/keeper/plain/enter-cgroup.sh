#!/bin/sh
# Enters a cgroup and becomes a program. Arguments: the files that processes enter the cgroup by, `--`, the program and its
# arguments.
while [ "$1" != -- ]; do
  # The kernel takes 0 for the shell itself.
  echo 0 >"$1" || exit 126
  shift
done
shift
exec "$@"
