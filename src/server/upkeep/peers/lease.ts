/** The Lease that shows that a server is alive, and its address. */
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { microTimestamp } from '../../../base/time/timestamp.ts';
import type { Lease } from '../../../kinds/groups/coordination/lease.ts';
import type { OwnObject } from '../own-objects.ts';
import type { ServerAddress } from './endpoints.ts';

export const LEASE_NAMESPACE = 'kube-system';
/** Time for which a server counts as alive without renewing its lease. */
export const LEASE_DURATION_MS = 4_000;
export const RENEW_INTERVAL_MS = 1_000;

const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
const IDENTITY = 'kube-apiserver';
const ADDRESS_ANNOTATION = 'apiserver.kubernetes.io/advertise-address';

export interface ServerIdentity {
  readonly hostname: string;
  readonly advertise: ServerAddress;
  /** Unique for every process. */
  readonly uid: string;
}

/**
 * Returns the name of a server's lease. It is the same for every start, so that a server that was killed finds its own
 * lease again.
 */
export function leaseName({ hostname, advertise }: Pick<ServerIdentity, 'hostname' | 'advertise'>): string {
  const hash = createHash('sha256')
    .update(`${hostname} ${hostPort(advertise)}`)
    .digest('hex');
  return `apiserver-${hash.slice(0, 26)}`;
}

export function leaseOf(identity: ServerIdentity, now: number): OwnObject {
  const name = leaseName(identity);
  return {
    apiVersion: 'coordination.k8s.io/v1',
    plural: 'leases',
    namespace: LEASE_NAMESPACE,
    body: {
      metadata: {
        name,
        labels: { [IDENTITY_LABEL]: IDENTITY, 'kubernetes.io/hostname': identity.hostname },
        annotations: { [ADDRESS_ANNOTATION]: hostPort(identity.advertise) },
      },
      spec: {
        holderIdentity: `${name}_${identity.uid}`,
        leaseDurationSeconds: LEASE_DURATION_MS / 1_000,
        renewTime: microTimestamp(now),
      },
    },
  };
}

/** Returns the address and duration of a server's lease; undefined for any other lease. */
export function readLease({ metadata, spec }: Lease): { server: ServerAddress; durationMs: number } | undefined {
  if (metadata.labels?.[IDENTITY_LABEL] !== IDENTITY) return undefined;
  const server = parseHostPort(metadata.annotations?.[ADDRESS_ANNOTATION] ?? '');
  return server && { server, durationMs: (spec?.leaseDurationSeconds ?? 0) * 1_000 };
}

function hostPort({ address, port }: ServerAddress): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}

function parseHostPort(text: string): ServerAddress | undefined {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? [];
  const address = bracketed ?? plain;
  return address === undefined ? undefined : { address, port: Number(port) };
}
