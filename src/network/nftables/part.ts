/** Parts of a table besides its fixed part. Several services may add the same part. */

import { createHash } from 'node:crypto';
import type { SetDefinition } from '../kernel/kernel.ts';
import type { Destination } from '../rules/rule-set.ts';

export type Part = (
  | { readonly kind: 'element'; readonly set: string; readonly key: string; readonly value?: string }
  | { readonly kind: 'chain'; readonly name: string; readonly rules: readonly string[] }
  | { readonly kind: 'set'; readonly set: SetDefinition }
) & {
  /** True when several services may add the part: parts with its key are always equal. */
  readonly isShared?: boolean;
};

/** Returns the key of a part. Two parts with the same key cannot both be in a table. */
export function keyOfPart(part: Part): string {
  switch (part.kind) {
    case 'element':
      return `element ${part.set} ${part.key}`;
    case 'chain':
      return `chain ${part.name}`;
    case 'set':
      return `set ${part.set.name}`;
  }
}

/** Returns the content that distinguishes parts with the same key. */
export function contentOfPart(part: Part): string {
  switch (part.kind) {
    case 'element':
      return part.value ?? '';
    case 'chain':
      return part.rules.join('\n');
    case 'set':
      return JSON.stringify(part.set);
  }
}

/** Returns a short name for a part of a table, derived from its subject. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Traffic to the cluster IP; to external addresses from this node and its pods; and from elsewhere, when it stays on this node. */
type Role = 'internal' | 'inside' | 'outside';

/** Sets up the distribution of connections over endpoints. */
export type Balance = (
  role: Role,
  endpoints: readonly Destination[],
) => { readonly chain: string; readonly parts: readonly Part[] };
