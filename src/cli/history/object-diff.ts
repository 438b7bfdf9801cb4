/** Compares two states of an object, field by field. */
import type { KubeObject } from '../../kinds/kind.ts';

/** Fields that change with every write, and say nothing about it. */
const BOOKKEEPING = ['resourceVersion', 'managedFields', 'selfLink', 'generation'];

/** The object without what only the server writes; without its status, too, where that does not count. */
export function contentOf({ metadata, ...object }: KubeObject, withStatus = true): object {
  const own = Object.fromEntries(Object.entries(metadata).filter(([key]) => !BOOKKEEPING.includes(key)));
  const { status, ...rest } = object as typeof object & { status?: unknown };
  return { ...rest, metadata: own, ...(withStatus && status !== undefined ? { status } : {}) };
}

/** Lines such as `- spec.replicas: 3` and `+ spec.replicas: 5`, in the order of the fields. */
export function diffLines(before: object | undefined, after: object | undefined): string[] {
  const [old, current] = [leavesOf(before), leavesOf(after)];
  const lines: string[] = [];
  for (const path of new Set([...old.keys(), ...current.keys()])) {
    const [was, is] = [old.get(path), current.get(path)];
    if (was === is) continue;
    if (was !== undefined) lines.push(`- ${path}: ${was}`);
    if (is !== undefined) lines.push(`+ ${path}: ${is}`);
  }
  return lines;
}

/** Values by their paths, as JSON. */
function leavesOf(value: unknown): Map<string, string> {
  const leaves = new Map<string, string>();
  const visit = (path: string, each: unknown) => {
    const entries = typeof each === 'object' && each !== null ? Object.entries(each) : [];
    if (entries.length === 0) {
      if (each !== undefined) leaves.set(path, JSON.stringify(each));
      return;
    }
    for (const [key, inner] of entries) visit(step(path, key, Array.isArray(each)), inner);
  };
  visit('', value);
  return leaves;
}

function step(path: string, key: string, isIndex: boolean): string {
  if (isIndex || !/^[\w-]+$/.test(key)) return `${path}[${isIndex ? key : JSON.stringify(key)}]`;
  return path ? `${path}.${key}` : key;
}
