/** What etcd is told: a file that it reads as YAML, of which JSON is a part. */
import type { MemberPaths } from './paths.ts';

/** Where a member listens. */
export interface MemberAddress {
  readonly host: string;
  /** For servers. */
  readonly clientPort: number;
  /** For other members. */
  readonly peerPort: number;
}

/** Another member, as a new one is told of it. */
export interface Peer {
  readonly name: string;
  readonly url: string;
}

export interface Membership {
  readonly name: string;
  /** The members that a new one joins; none when it is the first. Without effect once it has data. */
  readonly joins: readonly Peer[];
}

export const clientUrl = ({ host, clientPort }: MemberAddress) => urlAt(host, clientPort);
export const peerUrl = ({ host, peerPort }: MemberAddress) => urlAt(host, peerPort);

const urlAt = (host: string, port: number) => `https://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The most that etcd's authors advise. etcd keeps what it stores in memory, too. */
const QUOTA_BYTES = 8 * 2 ** 30;

/** etcd's own defaults: a lost leader is replaced in one to two seconds. */
const HEARTBEAT_MS = 100;
const ELECTION_MS = 1_000;

/** Entries between two snapshots, which a member that was away is brought up to date with. They are kept in memory. */
const SNAPSHOT_ENTRIES = 10_000;

/** Writes of one commit: as many as the embedded store accepts, from which a cluster may come. etcd's own limit is 128. */
const MAX_WRITES = 65_536;

export function memberConfiguration({ name, joins }: Membership, address: MemberAddress, paths: MemberPaths): object {
  const [client, peer] = [clientUrl(address), peerUrl(address)];
  const tls = {
    'cert-file': paths.certificate,
    'key-file': paths.key,
    'trusted-ca-file': paths.authority,
    'client-cert-auth': true,
  };
  return {
    name,
    'data-dir': paths.data,
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': [...joins, { name, url: peer }].map((each) => `${each.name}=${each.url}`).join(','),
    'initial-cluster-state': joins.length > 0 ? 'existing' : 'new',
    'client-transport-security': tls,
    'peer-transport-security': tls,
    'strict-reconfig-check': true,
    'heartbeat-interval': HEARTBEAT_MS,
    'election-timeout': ELECTION_MS,
    // A member that was cut off asks before it stands for election: its return would otherwise cost the others their leader.
    'pre-vote': true,
    'quota-backend-bytes': QUOTA_BYTES,
    'max-txn-ops': MAX_WRITES,
    'snapshot-count': SNAPSHOT_ENTRIES,
    // The servers compact, by the age of the history that they promise.
    'auto-compaction-retention': '0',
    logger: 'zap',
    'log-outputs': ['stderr'],
    'log-level': 'warn',
  };
}
