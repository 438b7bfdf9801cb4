import type { Call } from '../../../api/call.ts';

export const MAX_MANAGER_BYTES = 128;

/** A character that names of managers may not have. Made when a name is not plain: V8 needs a millisecond for it. */
function unprintableCharacter(): RegExp {
  unprintablePattern ??= /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;
  return unprintablePattern;
}

let unprintablePattern: RegExp | undefined;

/** The first character of a name that cannot be printed, and its position in bytes; undefined when there is none. */
export function unprintable(name: string): { readonly character: string; readonly at: number } | undefined {
  const found = unprintableCharacter().exec(name);
  return found ? { character: found[0], at: Buffer.byteLength(name.slice(0, found.index)) } : undefined;
}

/** Who writes: what the request says, or else the program that its User-Agent names, or else the component of its user. */
export function managerOf({ options, userAgent, user }: Pick<Call, 'options' | 'userAgent' | 'user'>): string {
  return options?.fieldManager || programOf(userAgent ?? '') || componentOf(user.name) || 'unknown';
}

/** `kubectl` of `kubectl/v1.36.0 (linux/amd64)`. */
function programOf(userAgent: string): string {
  const end = userAgent.indexOf('/');
  const name = end < 0 ? userAgent : userAgent.slice(0, end);
  return isPlain(name) ? name : printable(name);
}

/** Whether a name can be taken as it is. Nearly all are ASCII. */
function isPlain(name: string): boolean {
  return name.length <= MAX_MANAGER_BYTES && /^[ -~]*$/.test(name);
}

/** What can be printed of a name, up to the limit. */
function printable(text: string): string {
  let name = '';
  let bytes = 0;
  for (const character of text) {
    if (unprintableCharacter().test(character)) continue;
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_MANAGER_BYTES) break;
    name += character;
  }
  return name;
}

/** A map, since the name of a user can be that of a property which every object has. */
const COMPONENTS: ReadonlyMap<string, string> = new Map([
  ['system:apiserver', 'kube-apiserver'],
  ['system:simulated-nodes', 'simulated-nodes'],
]);

/** Components of this process send no User-Agent. They go by the names that they have in other clusters. */
function componentOf(user: string): string {
  if (user.startsWith('system:node:')) return 'kubelet';
  if (user.startsWith('system:serviceaccount:kube-system:')) return 'kube-controller-manager';
  return COMPONENTS.get(user) ?? (user.startsWith('system:kube-') ? user.slice('system:'.length) : '');
}
