import { expect, it } from 'vitest';
import type { ObjectChange } from '../../../api/past.ts';
import { unspliced } from '../../objects/cache/entry/encoding.ts';
import { changeListItem } from './change-list.ts';

const change = { name: 'ä', type: 'updated' } as ObjectChange;
const page = { revision: 7, changes: [], next: '5' };

it('is the same JSON after its memory was transferred', () => {
  const object = unspliced(Buffer.from(`{"data":"${'x'.repeat(200_000)}"}`));
  const item = changeListItem(page, [{ change, object }, { change }]);
  const bytes = item.json();
  const text = bytes.toString();
  structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] });
  expect(item.json().toString()).toBe(text);
  expect(item.object).toMatchObject({
    metadata: { resourceVersion: '7', continue: '5' },
    items: [{ name: 'ä', object: { data: expect.any(String) } }, { name: 'ä' }],
  });
});
