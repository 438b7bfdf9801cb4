/** Renews the lease of the node: as long as it is renewed, the node lives. */

import { isApiError } from '../../../api/errors.ts';
import { sleep } from '../../../base/time/clock.ts';
import type { Client, ClientTools } from '../../../client/client.ts';
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
  const lease = { client, node, uid: uid(), seconds: LEASE_SECONDS, now: clock.now() };
  await writeLease(lease, { signal, timeoutMs: TIMEOUT_MS });
}

export interface LeaseWrite {
  readonly client: Client;
  readonly node: string;
  /** The UID of the Node object. */
  readonly uid: string | undefined;
  readonly seconds: number;
  readonly now: number;
}

interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** Renews the lease, or creates it. */
export async function writeLease(write: LeaseWrite, options: CallOptions): Promise<void> {
  const { client, node } = write;
  try {
    await client
      .of(Lease)
      .in(NAMESPACE)
      .patch(node, { type: 'merge', changes: { spec: specOf(write) } }, options);
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    await createLease(write, options);
  }
}

export async function createLease(write: LeaseWrite, options: CallOptions): Promise<void> {
  const { client, node: name, uid } = write;
  const owner = { apiVersion: 'v1', kind: 'Node', name, uid: uid ?? '' };
  const metadata = { name, namespace: NAMESPACE, ownerReferences: uid ? [owner] : undefined };
  await client
    .of(Lease)
    .in(NAMESPACE)
    .create({ metadata, spec: specOf(write) }, options);
}

function specOf({ node, seconds, now }: LeaseWrite): Lease['spec'] {
  const renewTime = new Date(now).toISOString().replace('Z', '000Z');
  return { holderIdentity: node, leaseDurationSeconds: seconds, renewTime };
}
