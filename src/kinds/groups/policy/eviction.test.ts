import { expect, test } from 'vitest';
import { decode } from '../../../schema/decode/decode.ts';
import { Eviction } from './eviction.ts';

test('both versions have deleteOptions', () => {
  expect(Eviction.versions.map(({ apiVersion }) => apiVersion)).toEqual(['policy/v1', 'policy/v1beta1']);
  for (const { schema } of Eviction.versions) {
    const body = { metadata: { name: 'a' }, deleteOptions: { gracePeriodSeconds: 5, preconditions: { uid: 'u' } } };
    expect(decode(schema, { ...body, other: 1 })).toEqual(body);
  }
});
