/** A short hash of a pod template, which distinguishes the pods of different templates. */

import { createHash } from 'node:crypto';
import type { DeepReadonly } from '../../../api/object-types.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import { canonicalJson } from '../../../base/json/canonical.ts';
import type { PodTemplateSpec } from '../../../kinds/shapes/pod/pod-template.ts';

/** Alphabet without vowels and look-alikes, so that a hash spells no words. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Independent of the order of fields; different after every collision. */
export function templateHash(template: DeepReadonly<PodTemplateSpec>, collisions: number | undefined): string {
  const hash = hashOf(template);
  return encodedHash(fnv1a(collisions === undefined ? hash : `${hash}\n${collisions}`));
}

/** Cached: several plans hash the same templates, which may have megabytes. */
const hashOf = memoized((template: DeepReadonly<PodTemplateSpec>): string =>
  createHash('sha256').update(canonicalJson(template)).digest('hex'),
);

/** A number as part of a name. */
export function encodedHash(hash: number): string {
  return [...String(hash)].map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('');
}

/** Hashes to 32 bits, so that names are as short as those of Kubernetes. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
