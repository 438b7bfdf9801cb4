/**
 * Checks the mounts of a container before anything trusts them. Mount paths are resolved by the OCI runtime, through links of the image
 * and of volumes, which other processes may exchange at any time: what counts is where mounts have become. The runtime masks files of the
 * kernel with the /dev/null of the container, and opens it for processes; so nothing of a pod may be at the root, /dev, /proc or /sys.
 */
import type { OciHook } from './oci-hook.ts';

/**
 * Without an argument, the root of the container is the working directory. The first mount there is that of the node; the runtime mounts
 * the same directory there again. In a user namespace, it mounts devices of the node instead of making them. A container with a /sys that it can write to is privileged, and may cover what it likes.
 */
const SCRIPT = `
cd -P . || exit 1
root=\${1:-$PWD}; first=; dev=0; pts=0; proc=0; sys=0; is_privileged=no; devices=; problem=
set -f
mounts=$(cat /proc/self/mountinfo)
new_line='
'
IFS=$new_line
for mount in $mounts; do
  case $mount in *" $root"*|*' /dev '*) ;; *) continue;; esac
  IFS=' '
  set -- $mount
  IFS=$new_line
  device=$3 inner=$4 options=$6
  case $5 in
    /dev) devices=$device;;
    "$root") if [ -z "$first" ]; then first=$device$inner; elif [ "$device$inner" != "$first" ]; then problem='the root'; fi;;
    "$root"/dev) dev=$((dev + 1));;
    "$root"/dev/pts) pts=$((pts + 1));;
    "$root"/proc) proc=$((proc + 1));;
    "$root"/sys) sys=$((sys + 1)); case $options:$mount in rw*' - sysfs '*) is_privileged=yes;; esac;;
    "$root"/proc/*) problem=/proc;;
    "$root"/dev/null|"$root"/dev/zero|"$root"/dev/full|"$root"/dev/random|"$root"/dev/urandom|"$root"/dev/tty)
      [ "$device" = "$devices" ] || problem=/dev;;
    "$root"/dev/pts/*|"$root"/dev/console|"$root"/dev/ptmx|"$root"/dev/fd|"$root"/dev/stdin|"$root"/dev/stdout|"$root"/dev/stderr) problem=/dev;;
  esac
done
[ "$dev" = 1 ] && [ "$pts" = 1 ] || problem=/dev
[ "$proc" = 1 ] || problem=/proc
[ "$sys" = 1 ] || { problem=/sys; is_privileged=no; }
[ -z "$problem" ] || [ "$is_privileged" = yes ] || { echo "a mount of the pod leads to $problem of the container" >&2; exit 1; }
`;

/** Runs in the mount namespace of the container, when everything is mounted and the root is still where the node has it. */
export function ownMountsHook(root?: string): OciHook {
  const args = ['sh', '-c', SCRIPT, 'sh', ...(root === undefined ? [] : [root])];
  return { path: '/bin/sh', args, env: ['PATH=/usr/bin:/bin'], timeout: 10 };
}
