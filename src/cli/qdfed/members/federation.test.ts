import { expect, it } from 'vitest';
import { ApiError } from '../../../api/errors.ts';
import { createClient } from '../../../client/client.ts';
import type { Transport } from '../../../client/transport/transport.ts';
import { checkHost } from './federation.ts';

const hosted = { federationName: 'fed', namespace: 'federation-system', isNamed: false };

function cluster(call: Transport['call']) {
  const client = createClient({ call, watch: () => Promise.reject(new Error()) });
  return { context: 'north', connection: { server: 'https://192.0.2.1' }, client };
}

it('a member, which has the namespace of the federation, is not taken for its host', async () => {
  const member = cluster(() => Promise.reject(new ApiError('NotFound', 'deployments.apps "fed-apiserver" not found')));
  await expect(checkHost(member, hosted)).rejects.toThrow(
    'the cluster of context "north" does not host the federation "fed": it has no control plane in the namespace ' +
      'federation-system; name the host cluster with --host-cluster-context',
  );
});

it('a cluster with the control plane is the host; another error is not hidden', async () => {
  await checkHost(
    cluster((() => Promise.resolve({ type: 'object', object: { metadata: { name: 'fed-apiserver' } } })) as never),
    hosted,
  );
  const broken = cluster(() => Promise.reject(new ApiError('Forbidden', 'no')));
  await expect(checkHost(broken, hosted)).rejects.toThrow('no');
});
