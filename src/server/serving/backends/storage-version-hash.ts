import { createHash } from 'node:crypto';
import type { Kind } from '../../../kinds/kind.ts';

const HASH_BYTES = 8;

/**
 * Hashes the group, version and kind that objects are stored as. A storage migrator compares the hash between servers,
 * so it is computed as in Kubernetes.
 */
export function storageVersionHash({ hub, kind }: Pick<Kind, 'hub' | 'kind'>): string {
  const digest = createHash('sha256').update(`${hub.group}/${hub.version}/${kind}`).digest();
  return digest.subarray(0, HASH_BYTES).toString('base64');
}
