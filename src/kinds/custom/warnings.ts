import type { KubeObject } from '../kind.ts';

const STANDARD: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Warns of new finalizers without a domain and a path, which others might choose, too. */
export function finalizerWarnings({ metadata }: KubeObject, old: KubeObject | undefined): readonly string[] {
  const { finalizers } = metadata;
  if (!finalizers) return NONE;
  const known = new Set(old?.metadata.finalizers);
  const added = finalizers.filter((name) => !known.has(name) && !name.includes('/') && !STANDARD.has(name));
  return added.sort().map((name) => {
    const form = name.includes('.')
      ? 'a domain-qualified finalizer name including a path (/)'
      : 'a domain-qualified finalizer name';
    return `metadata.finalizers: "${name}": prefer ${form} to avoid accidental conflicts with other finalizer writers`;
  });
}

const NONE: readonly string[] = [];
