/** The Service `kube-dns`, which stands for the DNS server: pods know its address, and clients look for it by its labels. */
import { isIPv4 } from 'node:net';
import { isApiError } from '../../../base/errors.ts';
import type { Client } from '../../../client/client.ts';
import type { DeepReadonly, Draft } from '../../../client/object-types.ts';
import type { Resource } from '../../../client/resource.ts';
import { Endpoints } from '../../../kinds/groups/core/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';

export interface DnsEndpoint {
  /** Where pods reach the server. */
  readonly address: string;
  readonly port: number;
}

export const DNS_SERVICE = { name: 'kube-dns', namespace: 'kube-system' } as const;

const LABELS = { 'k8s-app': 'kube-dns', 'kubernetes.io/name': 'CoreDNS', 'kubernetes.io/cluster-service': 'true' };
const DNS_PORT = 53;
const PORTS = [
  { name: 'dns', protocol: 'UDP' },
  { name: 'dns-tcp', protocol: 'TCP' },
] as const;

/**
 * Creates the service unless it exists, and returns its address: any other one when `address` is taken or undefined.
 */
export async function ensureDnsService(client: Client, address: string | undefined, port: number): Promise<string> {
  const services = client.of(Service).in(DNS_SERVICE.namespace);
  const found = await services.get(DNS_SERVICE.name).catch(ignoreNotFound);
  if (found) return addressOf(found);
  const draft = {
    metadata: { name: DNS_SERVICE.name, namespace: DNS_SERVICE.namespace, labels: LABELS },
    spec: { type: 'ClusterIP' as const, ports: PORTS.map((each) => ({ ...each, port: DNS_PORT, targetPort: port })) },
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

/** Writes where the server listens, as EndpointSlice and as Endpoints, so that neither is derived from the other. */
export async function publishDnsEndpoint(client: Client, { address, port }: DnsEndpoint): Promise<void> {
  const ports = PORTS.map(({ name, protocol }) => ({ name, protocol, port }));
  const { name, namespace } = DNS_SERVICE;
  const slice = {
    metadata: { name, namespace, labels: { ...LABELS, 'kubernetes.io/service-name': name } },
    addressType: isIPv4(address) ? ('IPv4' as const) : ('IPv6' as const),
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports,
  };
  const endpoints = {
    metadata: { name, namespace, labels: { ...LABELS, 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses: [{ ip: address }], ports }],
  };
  const slices = client.of(EndpointSlice).in(namespace);
  const old = await slices.get(name).catch(ignoreNotFound);
  // The family of a slice cannot be changed.
  if (old && old.addressType !== slice.addressType) await slices.delete(name);
  await Promise.all([put(slices, name, slice), put(client.of(Endpoints).in(namespace), name, endpoints)]);
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
