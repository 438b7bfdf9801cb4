import { isApiError } from '../base/errors.ts';
import type { Call, Handle, User } from './api.ts';

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** The server writes as itself. */
const SELF: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };

/** What every cluster has from the start: the first namespaces, and the service through which pods find the server. */
export async function bootstrap(
  handle: Handle,
  options: { serviceAddress: string; advertise: { address: string; port: number } | undefined },
): Promise<void> {
  await Promise.all(NAMESPACES.map((name) => ensure(handle, { plural: 'namespaces', body: { metadata: { name } } })));
  const { serviceAddress, advertise } = options;
  if (!advertise) return;
  const metadata = { name: 'kubernetes', labels: { component: 'apiserver', provider: 'kubernetes' } };
  const spec = {
    clusterIP: serviceAddress,
    ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: advertise.port }],
    sessionAffinity: 'None',
    type: 'ClusterIP',
  };
  const subsets = [
    { addresses: [{ ip: advertise.address }], ports: [{ name: 'https', port: advertise.port, protocol: 'TCP' }] },
  ];
  await ensure(handle, { plural: 'services', namespace: 'default', body: { metadata, spec } });
  await put(handle, { plural: 'endpoints', namespace: 'default', body: { metadata: { name: 'kubernetes' }, subsets } });
}

type Wanted = { plural: string; namespace?: string; body: { metadata: { name: string } } & Record<string, unknown> };

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
  const { plural, namespace } = wanted;
  return { apiVersion: 'v1', plural, user: SELF, ...(namespace ? { namespace } : {}) };
}
