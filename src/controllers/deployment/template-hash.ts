/** What tells the pods of one template from those of another: a label that each ReplicaSet of a Deployment has. */
import { deepEqual } from '../../base/tree.ts';
import type { DeepReadonly } from '../../client/object-types.ts';
import type { Deployment } from '../../kinds/apps/deployment.ts';

export const HASH_LABEL = 'pod-template-hash';

type Template = DeepReadonly<Deployment['spec']['template']>;

/** No vowels and no look-alikes, so that a hash spells no word. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** The same for the same template, in whatever order its fields stand; another one for every collision before. */
export function templateHash(template: Template, collisions: number | undefined): string {
  const hash = fnv1a(canonical(template) + (collisions === undefined ? '' : `\n${collisions}`));
  return [...String(hash)].map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('');
}

export function sameTemplate(a: Template, b: Template): boolean {
  return deepEqual(withoutHash(a), withoutHash(b));
}

export function withoutHash(template: Template): Template {
  const { labels } = template.metadata ?? {};
  if (labels?.[HASH_LABEL] === undefined) return template;
  const { [HASH_LABEL]: _, ...rest } = labels;
  return { ...template, metadata: { ...template.metadata, labels: rest } };
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`);
  return `{${fields.join(',')}}`;
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
