/** The content of a ControllerRevision: bytes that Kubernetes' own controllers and kubectl would write, and compare. */
import { rawJson, withSortedKeys } from '../../../base/json/raw-json.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import type { PodTemplateSpec } from '../../../kinds/shapes/pod/pod-template.ts';
import { encodedHash } from '../pods/template-hash.ts';

/** A strategic merge patch that restores the template, replacing the current one entirely. */
export function revisionData(template: DeepReadonly<PodTemplateSpec>): object {
  return withSortedKeys({ spec: { template: { ...template, $patch: 'replace' } } }) as object;
}

/** The hash in the name of a StatefulSet's revision, which follows from its content. */
export function revisionHash(data: object, collisions: number): string {
  return encodedHash(fnv1(rawJson(data) + collisions));
}

function fnv1(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash, 0x01000193) ^ byte;
  return hash >>> 0;
}
