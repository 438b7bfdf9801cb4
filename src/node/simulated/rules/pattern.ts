import { getOrInsert } from '../../../base/collections/get-or-insert.ts';

const compiled = new Map<string, RegExp>();

/** Reports whether a name matches one of the patterns, in which `*` stands for anything. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.includes('*') ? expression(pattern).test(name) : pattern === name));
}

/** Patterns come from the rule file, so that the cache stays small. */
function expression(pattern: string): RegExp {
  return getOrInsert(compiled, pattern, () => {
    const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`);
  });
}
