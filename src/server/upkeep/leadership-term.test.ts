import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Call, WriteFence } from '../../api/call.ts';
import type { ObjectReply } from '../../api/reply.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { allKinds } from '../../kinds/all.ts';
import { MemoryStore } from '../../store/memory/memory-store.ts';
import { createServer, type Server } from '../index.ts';

const USER = { name: 'system:kube-controller-manager', groups: [] };
const LEASE = { namespace: 'kube-system', name: 'kube-controller-manager' };
const LEASES = { apiVersion: 'coordination.k8s.io/v1', plural: 'leases', ...LEASE };

let store: MemoryStore;
let server: Server;
beforeEach(async () => {
  const clock = new ControlledClock();
  store = new MemoryStore({ clock });
  server = await createServer({ store, kinds: allKinds, clock, freeze: true });
});
afterEach(async () => {
  server.close();
  await store.close();
});

/** Acquires the lease, and returns its version. */
async function acquired(holderIdentity: string): Promise<string> {
  const spec = { holderIdentity, leaseDurationSeconds: 4 };
  const body = { kind: 'Lease', apiVersion: LEASES.apiVersion, metadata: { name: LEASE.name }, spec };
  const options = { fieldManager: 'test', force: true };
  const call = { ...LEASES, user: USER, verb: 'patch', patchType: 'apply', options, body } as Call;
  const reply = (await server.handle(call)) as ObjectReply;
  return (reply.item.object as any).metadata.resourceVersion;
}
const termOf = async (holder: string): Promise<WriteFence> =>
  server.beginTerm({ ...LEASE, resourceVersion: await acquired(holder) });

const MAPS = { apiVersion: 'v1', plural: 'configmaps', namespace: 'default' };
const createUnder = (fence: WriteFence, name: string) =>
  server.direct(USER, fence)({ ...MAPS, verb: 'create', body: { metadata: { name } } });
const names = async () => {
  const listed: any = await server.direct(USER)({ ...MAPS, verb: 'list' });
  return listed.items.map(({ object }: any) => object.metadata.name);
};

it('a term lets its leader write, and no leader before it', async () => {
  const first = await termOf('a');
  await createUnder(first, 'of-a');
  const second = await termOf('b');
  await expect(createUnder(first, 'late')).rejects.toMatchObject({
    reason: 'Conflict',
    message: 'another server has taken over the lease of this component',
  });
  const update = {
    ...MAPS,
    name: 'of-a',
    verb: 'patch',
    patchType: 'merge',
    body: { data: { late: 'yes' } },
  } as const;
  await expect(server.direct(USER, first)(update)).rejects.toMatchObject({ reason: 'Conflict' });
  const removal = { ...MAPS, name: 'of-a', verb: 'delete' } as const;
  await expect(server.direct(USER, first)(removal)).rejects.toMatchObject({ reason: 'Conflict' });
  await createUnder(second, 'of-b');
  expect(await names()).toEqual(['of-a', 'of-b']);
});

it('a term does not begin when the lease has another holder by then', async () => {
  const resourceVersion = await acquired('a');
  const second = await termOf('b');
  await expect(server.beginTerm({ ...LEASE, resourceVersion })).rejects.toMatchObject({ reason: 'Conflict' });
  await createUnder(second, 'of-b');
});
