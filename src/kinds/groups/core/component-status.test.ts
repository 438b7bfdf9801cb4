import { expect, test } from 'vitest';
import { decode } from '../../../schema/decode/decode.ts';
import { ComponentStatus } from './component-status.ts';

test('it can only be read', () => {
  expect(ComponentStatus.verbs).toEqual(['get', 'list']);
  expect(ComponentStatus.singular).toBe('componentstatus');
});

test('a condition has a type and a status', () => {
  const object = { metadata: { name: 'scheduler' }, conditions: [{ message: 'ok', error: '' }] };
  expect(decode(ComponentStatus.hub.schema, object)).toEqual({
    metadata: { name: 'scheduler' },
    conditions: [{ type: '', status: '', message: 'ok' }],
  });
});
