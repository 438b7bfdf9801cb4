/** The endpoints of the service `kubernetes` for a set of servers. */
import { isIPv4 } from 'node:net';
import type { Handle } from '../../../api/call.ts';
import { type OwnObject, put } from '../own-objects.ts';

/** The address at which clients inside the cluster reach a server. */
export interface ServerAddress {
  readonly address: string;
  readonly port: number;
}

export const SERVICE = 'kubernetes';
export const NAMESPACE = 'default';

const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
/** The value of MANAGED_BY on slices other than the one with the name of the service. */
const MANAGER = 'kube-apiserver';

/** Returns the Endpoints: addresses with the same port share a subset. */
export function endpointsFor(servers: readonly ServerAddress[]): OwnObject {
  const subsets = groups(servers, ({ port }) => String(port)).map((group) => ({
    addresses: group.map(({ address }) => ({ ip: address })),
    ports: portsOf(group),
  }));
  const labels = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
  return { plural: 'endpoints', namespace: NAMESPACE, body: { metadata: { name: SERVICE, labels }, subsets } };
}

/**
 * Returns the EndpointSlices: all endpoints of a slice have the same ports and are of one address family. The first
 * slice has the name of the service, as Kubernetes' only one does.
 */
export function slicesFor(servers: readonly ServerAddress[]): readonly OwnObject[] {
  const byFamilyAndPort = groups(servers, ({ address, port }) => `${familyOf(address).toLowerCase()}-${port}`);
  return byFamilyAndPort.map((group, index) => {
    const [{ address, port }] = group;
    const addressType = familyOf(address);
    const name = index === 0 ? SERVICE : `${SERVICE}-${addressType.toLowerCase()}-${port}`;
    const labels = { 'kubernetes.io/service-name': SERVICE, ...(index > 0 && { [MANAGED_BY]: MANAGER }) };
    const endpoints = group.map((each) => ({ addresses: [each.address], conditions: { ready: true } }));
    const body = { metadata: { name, labels }, addressType, endpoints, ports: portsOf(group) };
    return { apiVersion: 'discovery.k8s.io/v1', plural: 'endpointslices', namespace: NAMESPACE, body };
  });
}

/** Reports whether a slice is one that `slicesFor` creates besides the first one. */
export function isFurtherSlice(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.['kubernetes.io/service-name'] === SERVICE && labels[MANAGED_BY] === MANAGER;
}

/** Publishes the servers in both forms, so that neither has to be derived from the other. */
export async function publishEndpoints(handle: Handle, servers: readonly ServerAddress[]): Promise<void> {
  await Promise.all([endpointsFor(servers), ...slicesFor(servers)].map((object) => put(handle, object)));
}

function portsOf([{ port }]: Group) {
  return [{ name: 'https', port, protocol: 'TCP' }];
}

function familyOf(address: string): 'IPv4' | 'IPv6' {
  return isIPv4(address) ? 'IPv4' : 'IPv6';
}

type Group = readonly [ServerAddress, ...ServerAddress[]];

/** Groups servers in a fixed order, sorted by address and without duplicates: every server writes the same. */
function groups(servers: readonly ServerAddress[], keyOf: (server: ServerAddress) => string): readonly Group[] {
  const found = new Map<string, Map<string, ServerAddress>>();
  for (const server of servers) {
    const key = keyOf(server);
    const group = found.get(key) ?? new Map<string, ServerAddress>();
    group.set(server.address, server);
    found.set(key, group);
  }
  const byKey = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return byKey.map(
    ([, group]) => [...group.values()].sort((a, b) => (a.address < b.address ? -1 : 1)) as unknown as Group,
  );
}
