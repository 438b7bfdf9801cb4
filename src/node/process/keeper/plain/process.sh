#!/bin/sh
# Supervises a plain process: starts a command, waits for it and keeps its exit code in the same files as that of a
# container. It works in the directory of the container.
#
#   sh SCRIPT STREAMS WORKING-DIRECTORY COMMAND…
#
# supervisor-head.sh comes before this, and sets `input`.
# shellcheck disable=SC2154
streams=$1
directory=$2
shift 2
echo ready >&3
read -r _ <&3 || exit 1
exec 3>&-
if [ ! -d "$directory" ]; then
  state "{\"state\":\"failed\",\"at\":$(now),\"message\":\"chdir to the working directory: no such file or directory\"}"
  exit 0
fi
(
  exec <"$input" >stdout 2>stderr 4>&- 5>&- 6>&- 7>&- 8>&-
  trap - HUP INT QUIT TERM PIPE USR1 USR2
  export QD_TERMINAL="$PWD/terminal"
  cd "$directory" && exec "$@"
) &
pid=$!
case $streams in
  *once*) exec 7>&- ;;
esac
started=$(now)
state "{\"state\":\"running\",\"at\":$started,\"pid\":$pid,\"group\":$$}"
wait "$pid"
code=$?
signal=0
if [ "$code" -gt 128 ]; then
  signal=$((code - 128))
fi
state "{\"state\":\"exited\",\"at\":$started,\"finishedAt\":$(now),\"exitCode\":$code,\"signal\":$signal,\"pid\":$pid,\"group\":$$}"
