/** The Lease that shows that a server is alive, and its address. */
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Release } from '../../../api/release.ts';
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
export const LEASE_SELECTOR = `${IDENTITY_LABEL}=${IDENTITY}`;
const ADDRESS_ANNOTATION = 'apiserver.kubernetes.io/advertise-address';
const VERSION_ANNOTATION = 'apiserver.kubernetes.io/version';
const LEVEL_ANNOTATION = 'apiserver.kubernetes.io/level';
/** Leases of components that the server is a candidate for, separated by commas. */
const CANDIDATE_ANNOTATION = 'apiserver.kubernetes.io/candidate-for';

/** How a server presents itself to others on the same store. */
export interface PeerDescription {
  readonly hostname: string;
  readonly release: Release;
  /** The leases of components that it is a candidate for, such as `kube-scheduler`. */
  readonly candidateFor: readonly string[];
}

export interface ServerIdentity extends PeerDescription {
  readonly advertise: ServerAddress;
  /** Unique for every process. */
  readonly uid: string;
}

/** Returns the name of a server's lease, the same for every start: a killed server finds its own lease again. */
export function leaseName({ hostname, advertise }: Pick<ServerIdentity, 'hostname' | 'advertise'>): string {
  const hash = createHash('sha256')
    .update(`${hostname} ${hostPort(advertise)}`)
    .digest('hex');
  return `apiserver-${hash.slice(0, 26)}`;
}

/** The holder in a server's lease, which differs for each start. */
export function holderOf(identity: ServerIdentity): string {
  return `${leaseName(identity)}_${identity.uid}`;
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
        annotations: {
          [ADDRESS_ANNOTATION]: hostPort(identity.advertise),
          [VERSION_ANNOTATION]: identity.release.version,
          [LEVEL_ANNOTATION]: String(identity.release.level),
          [CANDIDATE_ANNOTATION]: identity.candidateFor.join(','),
        },
      },
      spec: {
        holderIdentity: holderOf(identity),
        leaseDurationSeconds: LEASE_DURATION_MS / 1_000,
        renewTime: microTimestamp(now),
      },
    },
  };
}

/** A server, as its lease describes it. */
export interface LeasedServer {
  readonly address: ServerAddress;
  /** Undefined when its release does not say. */
  readonly release: Release | undefined;
  readonly candidateFor: readonly string[];
}

/** Returns the server and duration of a server's lease; undefined for any other lease. */
export function readLease({ metadata, spec }: Lease): { server: LeasedServer; durationMs: number } | undefined {
  if (metadata.labels?.[IDENTITY_LABEL] !== IDENTITY) return undefined;
  const { annotations = {} } = metadata;
  const address = parseHostPort(annotations[ADDRESS_ANNOTATION] ?? '');
  if (!address) return undefined;
  const { [VERSION_ANNOTATION]: version, [LEVEL_ANNOTATION]: level, [CANDIDATE_ANNOTATION]: components } = annotations;
  const release = version !== undefined && /^\d+$/.test(level ?? '') ? { version, level: Number(level) } : undefined;
  const candidateFor = components ? components.split(',') : [];
  return { server: { address, release, candidateFor }, durationMs: (spec?.leaseDurationSeconds ?? 0) * 1_000 };
}

export function hostPort({ address, port }: ServerAddress): string {
  return isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
}

function parseHostPort(text: string): ServerAddress | undefined {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(text) ?? [];
  const address = bracketed ?? plain;
  return address === undefined ? undefined : { address, port: Number(port) };
}
