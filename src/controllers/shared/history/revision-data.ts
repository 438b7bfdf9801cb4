/** The content of a ControllerRevision: bytes that Kubernetes' own controllers and kubectl would write, and compare. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import { rawJson, withSortedKeys } from '../../../base/json/raw-json.ts';
import type { PodTemplateSpec } from '../../../kinds/shapes/pod/pod-template.ts';
import { encodedHash } from '../pods/template-hash.ts';

type Template = DeepReadonly<PodTemplateSpec>;

/**
 * A strategic merge patch that restores the template, replacing the current one entirely. Cached, as its hash is: several
 * plans ask for the same ones, which may have megabytes.
 */
export const revisionData = memoized(
  (template: Template): object => withSortedKeys({ spec: { template: { ...template, $patch: 'replace' } } }) as object,
);

/** The hash in the name of a StatefulSet's revision, which follows from its content. */
export function revisionHash(data: object, collisions: number): string {
  return encodedHash(fnv1(String(collisions), hashOf(data)) >>> 0);
}

const hashOf = memoized((data: object): number => fnv1(rawJson(data), FNV_OFFSET));

const FNV_OFFSET = 0x811c9dc5;

/** A function that is called often is compiled earlier than a long loop is: that of the first large content would be slow. */
const PIECE_BYTES = 2_048;

/** Continues from the hash of the preceding text. */
function fnv1(text: string, before: number): number {
  const bytes = Buffer.from(text);
  let hash = before;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) hash = fnv1Piece(bytes, at, hash);
  return hash;
}

function fnv1Piece(bytes: Buffer, start: number, before: number): number {
  const end = Math.min(start + PIECE_BYTES, bytes.length);
  let hash = before;
  for (let i = start; i < end; i++) hash = Math.imul(hash, 0x01000193) ^ bytes[i]!;
  return hash;
}
