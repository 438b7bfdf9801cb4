/** A short hash of a pod template, which distinguishes the pods of different templates. */
import { canonicalJson } from '../../../base/json/canonical.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { PodTemplateSpec } from '../../../kinds/shapes/pod/pod-template.ts';

/** No vowels and look-alikes, so that a hash spells no words. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** Independent of the order of fields; different after every collision. */
export function templateHash(template: DeepReadonly<PodTemplateSpec>, collisions: number | undefined): string {
  return encodedHash(fnv1a(canonicalJson(template) + (collisions === undefined ? '' : `\n${collisions}`)));
}

/** A number as part of a name. */
export function encodedHash(hash: number): string {
  return [...String(hash)].map((digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('');
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
