/** Renews the lease of the node: as long as it is renewed, the node lives. */

import { isApiError } from '../../../api/errors.ts';
import { sleep } from '../../../base/time/clock.ts';
import type { ClientTools } from '../../../client/client.ts';
import { Lease } from '../../../kinds/groups/coordination/lease.ts';

export interface NodeLeaseOptions extends Omit<ClientTools, 'random'> {
  readonly signal: AbortSignal;
  readonly node: string;
  /** The UID of the Node object, which owns the lease. */
  readonly uid: () => string | undefined;
  /** Called when it is renewed again after it could not be. */
  readonly onRecovered: () => void;
}

const NAMESPACE = 'kube-node-lease';
const LEASE_SECONDS = 40;
const RENEWAL_MS = 10_000;
const RETRY_MS = 1_000;
/** Several attempts fit into the duration of the lease. */
const TIMEOUT_MS = 10_000;

/** Renews it until the signal is aborted. */
export async function keepLease(options: NodeLeaseOptions): Promise<void> {
  const { clock, log, signal, onRecovered } = options;
  let hasFailed = false;
  while (!signal.aborted) {
    try {
      await renew(options);
      if (hasFailed) onRecovered();
      hasFailed = false;
    } catch (error) {
      if (signal.aborted) return;
      log.warn('cannot renew the lease of the node', { error: String(error) });
      hasFailed = true;
    }
    await sleep(clock, hasFailed ? RETRY_MS : RENEWAL_MS, signal).catch(() => undefined);
  }
}

async function renew({ client, clock, signal, node, uid }: NodeLeaseOptions): Promise<void> {
  const leases = client.of(Lease).in(NAMESPACE);
  const spec = { holderIdentity: node, leaseDurationSeconds: LEASE_SECONDS, renewTime: microTime(clock.now()) };
  try {
    await leases.patch(node, { type: 'merge', changes: { spec } }, { signal, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    const owner = { apiVersion: 'v1', kind: 'Node', name: node, uid: uid() ?? '' };
    const metadata = { name: node, namespace: NAMESPACE, ownerReferences: uid() ? [owner] : undefined };
    await leases.create({ metadata, spec }, { signal, timeoutMs: TIMEOUT_MS });
  }
}

const microTime = (now: number) => new Date(now).toISOString().replace('Z', '000Z');
