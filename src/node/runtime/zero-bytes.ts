/**
 * Finds zero bytes in what becomes text for another program: arguments, environment, paths, names. The API accepts them, as
 * Kubernetes' does, and Linux does not: a string ends there. Nothing with one may reach a runtime.
 */
import type { ContainerConfig } from './container-config.ts';
import { RuntimeError } from './errors.ts';
import type { SandboxConfig } from './sandbox-config.ts';

/** Returns what is wrong with a container, as a sentence without its full stop; undefined: nothing. */
export function zeroByteInContainer({ env, labels, annotations, ...rest }: ContainerConfig): string | undefined {
  // The name of a variable says more than its position.
  const variable = env.find(({ name, value }) => hasZeroByte(name) || hasZeroByte(value));
  if (variable) return `environment variable ${printable(variable.name)} contains a zero byte`;
  return sentence(placeOfZeroByte(rest));
}

/** The same for the sandbox of a pod. Labels and annotations are data of runtimes, which no program is given. */
export function zeroByteInSandbox({ labels, annotations, ...rest }: SandboxConfig): string | undefined {
  return sentence(placeOfZeroByte(rest));
}

/** The path of the first string with a zero byte in a tree, such as `command[1]`; undefined if there is none. */
export function placeOfZeroByte(tree: unknown, path = ''): string | undefined {
  if (typeof tree === 'string') return hasZeroByte(tree) ? path : undefined;
  if (typeof tree !== 'object' || tree === null) return undefined;
  for (const [key, value] of Object.entries(tree)) {
    const place = Array.isArray(tree) ? `${path}[${key}]` : `${path === '' ? '' : `${path}.`}${printable(key)}`;
    if (hasZeroByte(key)) return place;
    const found = placeOfZeroByte(value, place);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The same for a volume, whose paths are files of the node. */
export function zeroByteInVolume(volume: object): string | undefined {
  return sentence(placeOfZeroByte(volume));
}

/** Throws a RuntimeError of code `CannotRun` for a command that no program can be given. */
export function checkCommand(command: readonly string[]): void {
  const place = placeOfZeroByte(command, 'command');
  if (place !== undefined) throw new RuntimeError('CannotRun', `${place} contains a zero byte`);
}

function sentence(place: string | undefined): string | undefined {
  return place === undefined ? undefined : `${place} contains a zero byte`;
}

export const hasZeroByte = (text: string) => text.includes('\0');

export const printable = (text: string) => text.replaceAll('\0', '\\0');
