/** Descriptors that a process got from the one that started it. */
import { closeSync, readdirSync, readFileSync } from 'node:fs';

const FIRST_AFTER_STDERR = 3;
/** In octal, as in `flags` of /proc/self/fdinfo. Linux has one value on all its architectures but alpha, parisc and sparc. */
const O_CLOEXEC = 0o2000000;

/**
 * Closes inherited descriptors, so that the programs of this process do not inherit them in turn. Native code of the parent
 * may open files in this way: LMDB does so with the file of the store. Descriptors that are closed on exec stay: those of
 * this process, standard input, output and error, and the first few, which Node has marked. Does nothing without /proc.
 */
export function closeInherited(): void {
  for (const descriptor of inheritable()) closeSync(descriptor);
}

/**
 * Returns the standard streams of a program to start, followed by entries that replace every other descriptor that it would
 * inherit with `nothing`, an open /dev/null: for programs that do not call `closeInherited`.
 */
export function withoutInherited<Stream>(standard: readonly Stream[], nothing: number): (Stream | number | 'ignore')[] {
  const inherited = inheritable();
  const length = Math.max(FIRST_AFTER_STDERR, ...inherited.map((descriptor) => descriptor + 1));
  return Array.from(
    { length },
    (_, descriptor) => standard[descriptor] ?? (inherited.includes(descriptor) ? nothing : 'ignore'),
  );
}

/** Lists descriptors after standard error that programs of this process would inherit. */
function inheritable(): number[] {
  try {
    const descriptors = readdirSync('/proc/self/fd').map(Number);
    return descriptors.filter((descriptor) => descriptor >= FIRST_AFTER_STDERR && isInheritable(descriptor));
  } catch {
    return [];
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? [];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    // The descriptor with which the directory was read.
    return false;
  }
}
