import { isIPv4 } from 'node:net';
import { isApiError } from '../base/errors.ts';
import { soon } from '../base/soon.ts';
import { Endpoints } from '../kinds/groups/core/endpoints.ts';
import { Namespace } from '../kinds/groups/core/namespace.ts';
import { Service } from '../kinds/groups/core/service/service.ts';
import { EndpointSlice } from '../kinds/groups/discovery/endpoint-slice.ts';
import { PriorityClass, systemPriorities } from '../kinds/groups/scheduling/priority-class.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Call, Handle } from './api.ts';
import type { Core } from './core.ts';
import { SERVER_USER } from './server-user.ts';

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

const PRIORITIES = [
  { name: 'system-cluster-critical', description: 'For pods that the cluster cannot be without, on whatever node.' },
  { name: 'system-node-critical', description: 'For pods that their node cannot be without.' },
];

interface BootstrapOptions {
  readonly serviceAddress: string;
  readonly advertise: { readonly address: string; readonly port: number } | undefined;
  /** Whether pods are given priorities: then there are classes for the cluster's own. */
  readonly priorities: boolean;
}

/** What every cluster has from the start: the first namespaces, and the service through which pods find the server. */
export async function bootstrap(handle: Handle, options: BootstrapOptions): Promise<void> {
  const { serviceAddress, advertise, priorities } = options;
  await Promise.all([
    ...NAMESPACES.map((name) => ensure(handle, { plural: 'namespaces', body: { metadata: { name } } })),
    ...(priorities ? PRIORITIES : []).map(({ name, description }) => {
      const body = { metadata: { name }, value: systemPriorities[name], description };
      return ensure(handle, { apiVersion: 'scheduling.k8s.io/v1', plural: 'priorityclasses', body });
    }),
  ]);
  if (!advertise) return;
  const metadata = { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } };
  const spec = {
    clusterIP: serviceAddress,
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: advertise.port }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  };
  await ensure(handle, { plural: 'services', namespace: 'default', body: { metadata, spec } });
  await publish(handle, advertise);
}

/** Names of what is made here, by its kind. */
const OWN: readonly (readonly [Kind, ReadonlySet<string>])[] = [
  [Namespace, new Set(NAMESPACES)],
  [PriorityClass, new Set(PRIORITIES.map(({ name }) => name))],
  ...[Service, Endpoints, EndpointSlice].map((kind) => [kind, new Set(['kubernetes'])] as const),
];

/** Makes again what somebody deletes of it. */
export function keepBootstrapped({ cache, log }: Pick<Core, 'cache' | 'log'>, again: () => Promise<void>): void {
  const plan = soon(() => {
    again().catch((error: unknown) => log.warn("what is the cluster's own could not be made again", { error }));
  });
  for (const [kind, names] of OWN) {
    cache.table(kind).listeners.add(({ entry, at }) => {
      if (!entry && names.has(at.name)) plan();
    });
  }
}

/** In both forms, so that nobody has to make the one from the other. */
async function publish(handle: Handle, { address, port }: NonNullable<BootstrapOptions['advertise']>): Promise<void> {
  const name = 'kubernetes';
  const ports = [{ name: 'https', port, protocol: 'TCP' }];
  const slice = {
    metadata: { name, labels: { 'kubernetes.io/service-name': name } },
    addressType: isIPv4(address) ? 'IPv4' : 'IPv6',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports,
  };
  const endpoints = {
    metadata: { name, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses: [{ ip: address }], ports }],
  };
  const namespace = 'default';
  await Promise.all([
    put(handle, { plural: 'endpoints', namespace, body: endpoints }),
    put(handle, { apiVersion: 'discovery.k8s.io/v1', plural: 'endpointslices', namespace, body: slice }),
  ]);
}

interface Wanted {
  readonly apiVersion?: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly body: { readonly metadata: { readonly name: string } } & Record<string, unknown>;
}

async function ensure(handle: Handle, wanted: Wanted): Promise<void> {
  const { name } = wanted.body.metadata;
  try {
    await handle({ ...base(wanted), verb: 'get', name });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    await create(handle, wanted);
  }
}

/** The address may be another than last time. */
async function put(handle: Handle, wanted: Wanted): Promise<void> {
  const { name } = wanted.body.metadata;
  try {
    await handle({ ...base(wanted), verb: 'patch', patchType: 'merge', name, body: structuredClone(wanted.body) });
  } catch (error) {
    if (!isApiError(error, 'NotFound')) throw error;
    await create(handle, wanted);
  }
}

async function create(handle: Handle, wanted: Wanted): Promise<void> {
  try {
    await handle({ ...base(wanted), verb: 'create', body: structuredClone(wanted.body) });
  } catch (error) {
    // Another server was faster.
    if (!isApiError(error, 'AlreadyExists')) throw error;
  }
}

function base(wanted: Wanted): Omit<Call, 'verb'> {
  const { apiVersion = 'v1', plural, namespace } = wanted;
  return { apiVersion, plural, user: SERVER_USER, ...(namespace ? { namespace } : {}) };
}
