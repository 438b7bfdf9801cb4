import { createHash } from 'node:crypto';
import type { Kind } from '../../kinds/kind.ts';

const HASH_BYTES = 8;

/** What discovery says about the version that objects are stored in: the same as in Kubernetes, but clients only compare it. */
export function storageVersionHash({ hub, kind }: Pick<Kind, 'hub' | 'kind'>): string {
  const { group, version } = hub;
  const digest = createHash('sha256').update(`${group}/${version}/${kind}`).digest();
  return digest.subarray(0, HASH_BYTES).toString('base64');
}
