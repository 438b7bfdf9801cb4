/** Parts of a table besides its fixed part. Several services may add the same part. */
import type { SetDefinition } from '../kernel/kernel.ts';

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
