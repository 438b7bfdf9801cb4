#!/bin/sh
# The beginning of every supervisor (container.sh, process.sh), in the directory of a container: how it says the time and
# its state, and the named pipes that it holds open, so that neither side ever waits for the other or loses what is in
# one. Input comes from `stdin`, from a pipe that never ends (`idle`, for terminals), or from nowhere.
trap '' HUP INT QUIT TERM PIPE USR1 USR2
now() {
  at=$(date +%s%3N)
  case $at in
    *[!0-9]*) at=$(date +%s)000 ;;
  esac
  echo "$at"
}
state() {
  printf '%s' "$1" >state.next && mv -f state.next state
  printf '%s\n' "$1" >&4
}
exec 4<>alive 5<>stdout 6<>stderr
input=/dev/null
if [ -p stdin ]; then
  input=stdin
fi
if [ -p idle ]; then
  exec 8<>idle
  [ -p stdin ] || input=idle
fi
if [ "$input" != /dev/null ]; then
  exec 7<>"$input"
fi
