import { expect, it } from 'vitest';
import { templateHash } from './template-hash.ts';

it('the hash of a template does not depend on the order of fields, and differs with every collision', () => {
  const one = { metadata: { labels: { a: '1', b: '2' } }, spec: { containers: [] } } as any;
  const same = { spec: { containers: [] }, metadata: { labels: { b: '2', a: '1' } } } as any;
  expect(templateHash(one, undefined)).toBe(templateHash(same, undefined));
  expect(templateHash(one, undefined)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/);
  expect(new Set([undefined, 0, 1, 2].map((count) => templateHash(one, count))).size).toBe(4);
});

it('the hash of a template is computed once for a template, however often it is asked for', () => {
  let read = 0;
  const counted = {
    get spec() {
      read++;
      return { containers: [] };
    },
  } as any;
  const first = templateHash(counted, undefined);
  const reads = read;
  expect([templateHash(counted, undefined), templateHash(counted, 1)]).toContain(first);
  expect(read).toBe(reads);
});
