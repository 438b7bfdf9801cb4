import { expect, it } from 'vitest';
import { withoutManagedFields } from './event.ts';

const object = { metadata: { name: 'a', managedFields: [{ manager: 'm' }] } };
const bare = { metadata: { name: 'a' } };

it.each<[string, object, object]>([
  ['an object', object, bare],
  ['a list', { metadata: {}, items: [object, bare] }, { metadata: {}, items: [bare, bare] }],
  ['a table', { rows: [{ object }, {}] }, { rows: [{ object: bare }, {}] }],
  [
    'a patch of it',
    [{ op: 'add', path: '/x', value: '"managedFields"' }],
    [{ op: 'add', path: '/x', value: '"managedFields"' }],
  ],
])('removes the managers from %s', (_what, given, wanted) => {
  expect(JSON.parse(withoutManagedFields(JSON.stringify(given)))).toEqual(wanted);
});
