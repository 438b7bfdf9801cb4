/** The kernel holds no longer ones. */
const MAX_HOST_NAME = 64;

/** Sets the name of its own UTS namespace, without a program that may not be installed. Arguments: the name, and the command. */
const SCRIPT = 'echo "$1" >/proc/sys/kernel/hostname && shift && exec "$@"';

/** The command that runs another one, and all that it starts, on a machine with another name. Needs root, and the path of `unshare`. */
export function underHostName(unshare: string, name: string, command: readonly string[]): string[] {
  return [unshare, '--uts', '/bin/sh', '-c', SCRIPT, 'sh', name.slice(0, MAX_HOST_NAME), ...command];
}
