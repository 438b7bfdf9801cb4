/** Compares two states of an object, field by field. */

import { withoutMark } from '../../api/undo/undo-mark.ts';
import type { KubeObject } from '../../kinds/kind.ts';

/** Fields that change with every write, and say nothing about it. */
const BOOKKEEPING = ['resourceVersion', 'managedFields', 'selfLink', 'generation'];

/** The object without what says nothing about it. */
export function contentOf(object: KubeObject): object {
  const { metadata, ...rest } = withoutMark(object);
  return {
    ...rest,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([key]) => !BOOKKEEPING.includes(key))),
  };
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

interface Write {
  readonly from: object;
  readonly to: object;
  /** The object that the server answered with. */
  readonly is: object;
}

/** Lines about fields that a write should have changed, and that the server did not give the value that was written. */
export function missingLines({ from, to, is }: Write): string[] {
  const [old, wanted, written] = [leavesOf(from), leavesOf(to), leavesOf(is)];
  const changed = [...new Set([...old.keys(), ...wanted.keys()])].filter((path) => old.get(path) !== wanted.get(path));
  return changed
    .filter((path) => written.get(path) !== wanted.get(path))
    .map((path) => `  ${path}: ${written.get(path) ?? 'absent'}, not ${wanted.get(path) ?? 'absent'}`);
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
