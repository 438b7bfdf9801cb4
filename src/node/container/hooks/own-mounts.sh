#!/bin/sh
# Checks the mounts of a container in its mount namespace: own-mounts-hook.ts.
# Argument: the root of the container; without one, it is the working directory.
cd -P . || exit 1
root=${1:-$PWD}
first=
dev=0
pts=0
proc=0
sys=0
is_privileged=no
devices=
problem=
# The fields of a mount are no patterns for names of files.
set -f
mounts=$(cat /proc/self/mountinfo)
new_line='
'
IFS=$new_line
for mount in $mounts; do
  case $mount in
    *" $root"* | *' /dev '*) ;;
    *) continue ;;
  esac
  IFS=' '
  # shellcheck disable=SC2086
  set -- $mount
  IFS=$new_line
  device=$3
  inner=$4
  options=$6
  case $5 in
    /dev) devices=$device ;;
    "$root")
      # The first mount there is that of the node; the runtime mounts the same directory there again.
      if [ -z "$first" ]; then
        first=$device$inner
      elif [ "$device$inner" != "$first" ]; then
        problem='the root'
      fi
      ;;
    "$root"/dev) dev=$((dev + 1)) ;;
    "$root"/dev/pts) pts=$((pts + 1)) ;;
    "$root"/proc) proc=$((proc + 1)) ;;
    "$root"/sys)
      sys=$((sys + 1))
      # A container with a /sys that it can write to is privileged, and may cover what it likes.
      case $options:$mount in
        rw*' - sysfs '*) is_privileged=yes ;;
      esac
      ;;
    "$root"/proc/*) problem=/proc ;;
    "$root"/dev/null | "$root"/dev/zero | "$root"/dev/full | "$root"/dev/random | "$root"/dev/urandom | "$root"/dev/tty)
      # In a user namespace, the runtime mounts devices of the node instead of making them.
      [ "$device" = "$devices" ] || problem=/dev
      ;;
    "$root"/dev/pts/* | "$root"/dev/console | "$root"/dev/ptmx) problem=/dev ;;
    "$root"/dev/fd | "$root"/dev/stdin | "$root"/dev/stdout | "$root"/dev/stderr) problem=/dev ;;
  esac
done
[ "$dev" = 1 ] || problem=/dev
[ "$pts" = 1 ] || problem=/dev
[ "$proc" = 1 ] || problem=/proc
if [ "$sys" != 1 ]; then
  problem=/sys
  is_privileged=no
fi
if [ -z "$problem" ] || [ "$is_privileged" = yes ]; then
  exit 0
fi
echo "a mount of the pod leads to $problem of the container" >&2
exit 1
