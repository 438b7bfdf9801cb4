/**
 * Facts of the cluster that an agent follows while it runs: the addresses of cluster DNS for its pods, and the servers.
 * Both are kept on disk, so that pods have DNS and the agent finds a server when the one that it was told of is gone.
 */
import { isIP, isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { KindRef } from '../../../api/object-types.ts';
import { readIfThere, writeWhole } from '../../../base/files/own/files.ts';
import type { Logger } from '../../../base/log.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { InformerFactory, InformerSelection } from '../../../client/informer/informer-factory.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { DNS_SERVICE } from '../../../network/dns/feed/dns-service.ts';

/** How long a start waits for the server. */
const FIRST_TIMEOUT_MS = 5_000;

/** The EndpointSlices that list the servers. */
export const SERVERS_SELECTION = { namespace: 'default', labelSelector: 'kubernetes.io/service-name=kubernetes' };

const CLUSTER_DNS_FILE = 'cluster-dns.json';
const SERVERS_FILE = 'servers.json';

export interface FollowOptions {
  readonly informers: InformerFactory;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** The data directory of the agent. */
  readonly directory: string;
}

export interface FollowedFact {
  values(): readonly string[];
  /** Resolves when the last values are on disk. */
  written(): Promise<void>;
}

/** Resolves when the addresses of cluster DNS are known, or the server has not answered for a while. */
export async function followClusterDns(options: FollowOptions): Promise<FollowedFact> {
  const { name, namespace } = DNS_SERVICE;
  const fact = await follow(options, {
    kind: Service,
    selection: { namespace, fieldSelector: `metadata.name=${name}` },
    file: CLUSTER_DNS_FILE,
    read: ({ spec }) => (spec.clusterIPs ?? []).filter((each) => isIP(each) > 0),
  });
  if (fact.values().length === 0) options.log.warn('pods get no cluster DNS until the Service kube-dns can be read');
  return fact;
}

/** Resolves when the URLs of the servers are known, or none has answered for a while. */
export function followServers(
  options: FollowOptions,
  onChange: (servers: readonly string[]) => void,
): Promise<FollowedFact> {
  return follow(options, {
    kind: EndpointSlice,
    selection: SERVERS_SELECTION,
    file: SERVERS_FILE,
    onChange,
    read: serversIn,
  });
}

/** Returns the URLs of the servers in an EndpointSlice. */
export function serversIn({ endpoints = [], ports }: EndpointSlice): readonly string[] {
  const port = ports?.find(({ name }) => name === 'https')?.port;
  if (port === undefined) return [];
  const hosts = endpoints.flatMap(({ addresses }) => addresses.map((each) => (isIPv6(each) ? `[${each}]` : each)));
  return hosts.map((host) => `https://${host}:${port}`);
}

interface Source<T extends KubeObject> {
  readonly kind: KindRef<T>;
  readonly selection: InformerSelection;
  readonly file: string;
  readonly read: (object: T) => readonly string[];
  readonly onChange?: (values: readonly string[]) => void;
}

async function follow<T extends KubeObject>(
  { informers, clock, log, signal, directory }: FollowOptions,
  { kind, selection, file, read, onChange }: Source<T>,
): Promise<FollowedFact> {
  const path = join(directory, file);
  let values = await readFact(path);
  let writing = Promise.resolve();
  const informer = informers.of(kind, selection);
  informer.onChange(() => {
    const found = [...new Set(informer.lister.list().flatMap((object) => read(object as T)))].sort();
    // Objects that were deleted are made again: what was known is better than nothing.
    if (found.length === 0 || JSON.stringify(found) === JSON.stringify(values)) return;
    values = found;
    onChange?.(found);
    writing = writing
      .then(() => writeWhole(path, `${JSON.stringify(found)}\n`))
      .catch((error: unknown) => log.warn('a fact of the cluster was not kept', { file, error: String(error) }));
  });
  await Promise.race([informer.synced, sleep(clock, FIRST_TIMEOUT_MS, signal).catch(() => undefined)]);
  return { values: () => values, written: () => writing };
}

/** Servers that an earlier start has kept. */
export async function knownServers(directory: string): Promise<readonly string[]> {
  return readFact(join(directory, SERVERS_FILE));
}

async function readFact(path: string): Promise<readonly string[]> {
  try {
    return JSON.parse((await readIfThere(path)) ?? '[]');
  } catch {
    return []; // It is written again.
  }
}
