/** Managers of fields as a client may send them, and configurations that own as many fields as they can. */
import type { Attack } from '../attack.ts';

const COLLECTION = '/api/v1/namespaces/tenant/configmaps';
const APPLY = 'application/apply-patch+yaml';
const APPLIERS = 8;

const fieldsOf = (count: number, name: (i: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), {}]));
const entry = (manager: string, fieldsV1: object) => ({
  ...{ manager, operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 },
});
const nested = (leaf: number) => `v:${'['.repeat(300_000)}${leaf}${']'.repeat(300_000)}`;

const SENT: readonly object[][] = [
  [entry('wide', { 'f:data': fieldsOf(80_000, (i) => `f:k${i}`) })],
  [entry('values', { 'f:metadata': { 'f:finalizers': fieldsOf(29_000, (i) => `v:"${'x'.repeat(60)}${i}"`) } })],
  [entry('nested', { 'f:metadata': { 'f:finalizers': { [nested(1)]: {}, [nested(2)]: {} } } })],
  Array.from({ length: 9_000 }, (_, i) => entry(`manager-${i}`, { 'f:data': { [`f:k${i}`]: {} } })),
];

export const managedFields: Attack = {
  name: 'managed fields',
  async run({ tenant }) {
    for (const sent of SENT) {
      await tenant.send('POST', COLLECTION, { body: { metadata: { name: 'managed', managedFields: sent } } });
      const label = { body: { metadata: { labels: { a: 'b' } } }, type: 'application/merge-patch+json' };
      await tenant.send('PATCH', `${COLLECTION}/managed`, label);
      await tenant.send('DELETE', `${COLLECTION}/managed`);
    }
    for (const count of [14_000, 45_000]) {
      const name = `applied-${count}`;
      const data = Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-of-the-data-${i}`, '']));
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
      for (let i = 0; i < APPLIERS; i++) {
        await tenant.send('PATCH', `${COLLECTION}/${name}?fieldManager=m${i}&force=true`, { body, type: APPLY });
      }
      await tenant.send('GET', COLLECTION);
      await tenant.send('DELETE', `${COLLECTION}/${name}`);
    }
  },
};
