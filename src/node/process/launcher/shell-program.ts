/**
 * The supervisor for a machine without Perl: a shell script that starts a command, waits for it and keeps its exit code in
 * the same files as `program.ts` does. It can make no namespaces and no terminals.
 *
 *   sh SCRIPT STREAMS WORKING-DIRECTORY COMMAND…
 */
export const SHELL_PROGRAM = String.raw`
streams=$1; directory=$2; shift 2
trap '' HUP INT QUIT TERM PIPE USR1 USR2
tool() { PATH=/usr/bin:/bin:/usr/sbin:/sbin "$@"; }
now() { at=$(tool date +%s%3N); case $at in *[!0-9]*) at=$(tool date +%s)000;; esac; echo "$at"; }
state() { printf '%s' "$1" >state.next && tool mv -f state.next state; printf '%s\n' "$1" >&4; }
failed() { state "{\"state\":\"failed\",\"at\":$(now),\"message\":\"$1\"}"; exit 0; }
kept=$(pwd)
IFS=,
for name in alive $streams; do [ "$name" = once ] || [ -p "$name" ] || tool mkfifo -m 666 "$name" || exit 1; done
unset IFS
exec 4<>alive 5<>stdout 6<>stderr
if [ -p stdin ]; then exec 7<>stdin; fi
echo ready >&3
read -r go <&3 || exit 1
exec 3>&-
[ -d "$directory" ] || failed 'chdir to the working directory: no such file or directory'
case $1 in
  */*) [ -x "$1" ] && [ ! -d "$1" ] || failed 'exec: no such file or directory';;
  *) command -v -- "$1" >/dev/null || failed 'exec: executable file not found in $PATH';;
esac
input=/dev/null
if [ -p stdin ]; then input=stdin; fi
(
  exec <"$input" >stdout 2>stderr 4>&- 5>&- 6>&- 7>&-
  trap - HUP INT QUIT TERM PIPE USR1 USR2
  cd "$directory" && exec "$@"
) &
pid=$!
case $streams in *once*) exec 7>&-;; esac
started=$(now)
state "{\"state\":\"running\",\"at\":$started,\"pid\":$pid,\"group\":$$}"
wait "$pid"
code=$?
signal=0
if [ "$code" -gt 128 ]; then signal=$((code - 128)); fi
state "{\"state\":\"exited\",\"at\":$started,\"finishedAt\":$(now),\"exitCode\":$code,\"signal\":$signal,\"pid\":$pid,\"group\":$$}"
`;
