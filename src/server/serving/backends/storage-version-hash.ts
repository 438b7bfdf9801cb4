import { createHash } from 'node:crypto';
import type { Kind } from '../../../kinds/kind.ts';

const HASH_BYTES = 8;

/**
 * The hash of the group, version and kind that objects are stored as. A storage migrator compares it between servers, so it
 * is computed as Kubernetes computes it.
 */
export function storageVersionHash({ hub, kind }: Pick<Kind, 'hub' | 'kind'>): string {
  const digest = createHash('sha256').update(`${hub.group}/${hub.version}/${kind}`).digest();
  return digest.subarray(0, HASH_BYTES).toString('base64');
}
