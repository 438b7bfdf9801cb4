/**
 * Terms of leaders in the store. A leader whose event loop was blocked, or whose write was on its way for long, may not know
 * that its lease has expired; its writes depend on a row that the next leader overwrites before it acts.
 */
import type { WriteFence } from '../../api/call.ts';
import { conflict } from '../../api/errors.ts';
import { Lease } from '../../kinds/groups/coordination/lease.ts';
import { StoreConflict } from '../../store/store.ts';
import { keyOf } from '../objects/cache/keys.ts';
import type { TransactionPorts } from '../objects/transaction/ports.ts';

/** Outside of /registry/, so that terms are never served. */
const PREFIX = '/quarterdeck/terms/';

export interface AcquiredLease {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
}

/** Begins a term: writes under earlier fences are rejected. Rejects with a Conflict when the lease has changed. */
export async function beginTerm(
  { commits }: Pick<TransactionPorts, 'commits'>,
  { namespace, name, resourceVersion }: AcquiredLease,
): Promise<WriteFence> {
  const key = `${PREFIX}${name}`;
  const held = { key: keyOf(Lease, namespace, name), revision: Number(resourceVersion) };
  try {
    return { key, revision: await commits.mark(key, Buffer.from(resourceVersion), held) };
  } catch (error) {
    if (error instanceof StoreConflict) throw conflict(Lease, name);
    throw error;
  }
}
