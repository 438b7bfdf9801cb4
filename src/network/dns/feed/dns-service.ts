/** The Service `kube-dns`, which stands for the DNS server: pods know its address, and clients look for it by its labels. */
import { isIPv4 } from 'node:net';
import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import type { Client } from '../../../client/client.ts';
import type { Resource } from '../../../client/resource.ts';
import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';

export interface DnsEndpoint {
  /** Address at which pods reach the server. */
  readonly address: string;
  readonly port: number;
  /** Port that serves metrics. */
  readonly metricsPort: number;
  /** False while the server does not listen: it is no endpoint then. */
  readonly isListening?: boolean;
}

type DnsPorts = Pick<DnsEndpoint, 'port' | 'metricsPort'>;

export const DNS_SERVICE = { name: 'kube-dns', namespace: 'kube-system' } as const;

/** The name of the port for metrics. */
const METRICS = 'metrics';
const LABELS = { 'k8s-app': 'kube-dns', 'kubernetes.io/name': 'CoreDNS', 'kubernetes.io/cluster-service': 'true' };
const PORTS = [
  { name: 'dns', protocol: 'UDP', number: 53, of: ({ port }: DnsPorts) => port },
  { name: 'dns-tcp', protocol: 'TCP', number: 53, of: ({ port }: DnsPorts) => port },
  { name: METRICS, protocol: 'TCP', number: 9153, of: ({ metricsPort }: DnsPorts) => metricsPort },
] as const;

/**
 * Creates the service unless it exists, and returns its address: any other one when `address` is taken or undefined.
 */
export async function ensureDnsService(client: Client, address: string | undefined, own: DnsPorts): Promise<string> {
  const services = client.of(Service).in(DNS_SERVICE.namespace);
  const found = await services.get(DNS_SERVICE.name).catch(ignoreNotFound);
  if (found) return addressOf(found);
  const draft = {
    metadata: { name: DNS_SERVICE.name, namespace: DNS_SERVICE.namespace, labels: LABELS },
    spec: {
      type: 'ClusterIP' as const,
      ports: PORTS.map(({ name, protocol, number, of }) => ({ name, protocol, port: number, targetPort: of(own) })),
    },
  };
  try {
    const spec = address === undefined ? draft.spec : { ...draft.spec, clusterIP: address };
    return addressOf(await services.create({ ...draft, spec }));
  } catch (error) {
    // Another server created it first.
    if (isApiError(error, 'AlreadyExists')) return addressOf(await services.get(DNS_SERVICE.name));
    if (!isApiError(error, 'Invalid') || address === undefined) throw error;
    return addressOf(await services.create(draft));
  }
}

/**
 * Publishes the address of the server, as EndpointSlice and as Endpoints, so that neither is derived from the other.
 * `isAlive` tells which other servers of the cluster live: those stay. Rejects with a Conflict when another server
 * writes at the same time.
 */
export async function publishDnsEndpoint(
  client: Client,
  own: DnsEndpoint,
  isAlive: (address: string) => boolean,
): Promise<void> {
  const { name, namespace } = DNS_SERVICE;
  const slices = client.of(EndpointSlice).in(namespace);
  const old = await slices.get(name).catch(ignoreNotFound);
  const { addresses, ...found } = mergedEndpoints(old, own, isAlive);
  const ports = PORTS.map(({ name: portName, protocol, of }) => ({ name: portName, protocol, port: of(found) }));
  const addressType = isIPv4(own.address) ? ('IPv4' as const) : ('IPv6' as const);
  // The family of a slice cannot be changed.
  const isKept = old?.addressType === addressType;
  if (old && !isKept) await slices.delete(name);
  const version = isKept ? { resourceVersion: old.metadata.resourceVersion } : {};
  const slice = {
    metadata: { name, namespace, labels: { ...LABELS, 'kubernetes.io/service-name': name }, ...version },
    addressType,
    ports,
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  };
  const endpoints = {
    metadata: { name, namespace, labels: { ...LABELS, 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: addresses.length === 0 ? [] : [{ addresses: addresses.map((ip) => ({ ip })), ports }],
  };
  await put(slices, name, slice);
  await put(client.of(Endpoints).in(namespace), name, endpoints);
}

type Slice = DeepReadonly<EndpointSlice>;

/**
 * The addresses that the service leads to: this server, if it listens, and those that live. All have one port: a server with another one is left
 * out while others live.
 */
export function mergedEndpoints(
  old: Slice | undefined,
  own: DnsEndpoint,
  isAlive: (address: string) => boolean,
): DnsPorts & { readonly addresses: readonly string[] } {
  const port = old?.ports?.[0]?.port;
  const known = old?.endpoints?.flatMap(({ addresses }) => addresses) ?? [];
  const isSameFamily = (address: string) => isIPv4(address) === isIPv4(own.address);
  const others = known.filter((address) => address !== own.address && isSameFamily(address) && isAlive(address));
  const knownPort = old?.ports?.find(({ name }) => name === METRICS)?.port;
  // Another server may have another port for metrics; a slice has one.
  const metricsPort = others.length > 0 ? (knownPort ?? own.metricsPort) : own.metricsPort;
  if (own.isListening === false) return { addresses: others, port: port ?? own.port, metricsPort };
  if (port !== undefined && port !== own.port && others.length > 0) return { addresses: others, port, metricsPort };
  return { addresses: [...new Set([...others, own.address])].sort(), port: own.port, metricsPort };
}

/** Creates the object, or merges it into the one that exists. */
async function put<T>(resource: Resource<T>, name: string, object: Draft<T>): Promise<void> {
  try {
    await resource.patch(name, { type: 'merge', changes: object as Readonly<Record<string, unknown>> });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    await resource.create(object);
  }
}

function ignoreNotFound(error: unknown): undefined {
  if (!isApiError(error, 'NotFound')) throw error;
  return undefined;
}

function addressOf({ spec }: DeepReadonly<Service>): string {
  return spec.clusterIP ?? '';
}
