import type { Call } from '../../../api/call.ts';

export const MAX_MANAGER_BYTES = 128;

/** Matches a character that manager names must not contain. Compiled on demand: V8 needs a millisecond for it. */
function unprintableCharacter(): RegExp {
  unprintablePattern ??= /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;
  return unprintablePattern;
}

let unprintablePattern: RegExp | undefined;

/** Returns the first unprintable character of a name, and its position in bytes; undefined when there is none. */
export function unprintable(name: string): { readonly character: string; readonly at: number } | undefined {
  const found = unprintableCharacter().exec(name);
  return found ? { character: found[0], at: Buffer.byteLength(name.slice(0, found.index)) } : undefined;
}

/** Returns the manager of a request: its field manager, else the program in its User-Agent, else its component. */
export function managerOf({ options, userAgent, user }: Pick<Call, 'options' | 'userAgent' | 'user'>): string {
  return options?.fieldManager || programOf(userAgent ?? '') || componentOf(user.name) || 'unknown';
}

/** Returns the program, such as `kubectl` of `kubectl/v1.36.0 (linux/amd64)`. */
function programOf(userAgent: string): string {
  const end = userAgent.indexOf('/');
  const name = end < 0 ? userAgent : userAgent.slice(0, end);
  return isPlain(name) ? name : printable(name);
}

/** Reports whether a name needs no check. Nearly all are ASCII. */
function isPlain(name: string): boolean {
  return name.length <= MAX_MANAGER_BYTES && /^[ -~]*$/.test(name);
}

/** Returns the printable characters of a name, up to the limit. */
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

/** A map, since a user name can equal a property that every object has. */
const COMPONENTS: ReadonlyMap<string, string> = new Map([
  ['system:apiserver', 'kube-apiserver'],
  ['system:simulated-nodes', 'simulated-nodes'],
]);

/** Returns the component of a user: those of this process send no User-Agent, and have their usual names. */
function componentOf(user: string): string {
  if (user.startsWith('system:node:')) return 'kubelet';
  if (user.startsWith('system:serviceaccount:kube-system:')) return 'kube-controller-manager';
  return COMPONENTS.get(user) ?? (user.startsWith('system:kube-') ? user.slice('system:'.length) : '');
}
