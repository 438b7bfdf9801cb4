/** Checks that caches under keys that clients choose are limited in bytes; `test/architecture` has the list. */
import { expect, it } from 'vitest';
import { bytesUsed } from '../../test/support/heap.ts';
import { silent as log } from '../base/log.ts';
import { canonicalQuantity, parseQuantity } from '../base/quantity.ts';
import { systemClock as clock } from '../base/time/clock.ts';
import { parseFieldSelector, parseLabelSelector } from '../schema/selector/selector.ts';
import { createAuthenticator } from './access/authn/authenticator.ts';
import { verifiedTokens } from './access/authn/tokens/verified-tokens.ts';
import { Webhook } from './access/authz/webhook/webhook.ts';
import type { View } from './objects/cache/entry/view.ts';
import type { Table } from './objects/cache/table.ts';
import { ListBodies } from './objects/reads/list-bodies.ts';
import type { Registry, Resource } from './objects/registry/registry.ts';
import { negotiate } from './serving/http/respond/accept.ts';

const HEADER_LENGTH = 60_000;
const long = (i: number, length = HEADER_LENGTH) => `${i}${'x'.repeat(length)}`;

const authenticate = createAuthenticator({ clock, tokens: [], anonymous: true });
const webhook = new Webhook({ clock, log, post: async () => ({ allowed: true }) });
const verified = verifiedTokens<object>();

it.each<[string, (i: number) => unknown]>([
  ['Accept headers', (i) => negotiate(`application/json;a=${long(i)}`)],
  [
    'Authorization headers',
    (i) => {
      const end = `${String.fromCharCode(65 + (i % 26))}${String.fromCharCode(65 + ((i / 26) % 26))}.`;
      expect(() =>
        authenticate({ authorization: `Bearer ey${long(i)}${end}`, certificate: undefined, token: undefined }),
      ).toThrow();
    },
  ],
  ['verified tokens', (i) => verified.set(long(i), {})],
  ['decisions of a webhook', (i) => webhook.authorize({ user: { name: long(i), groups: [] }, verb: 'get', path: '/' })],
  ['label selectors', (i) => parseLabelSelector(`a in (${Array.from({ length: 2_000 }, (_, n) => `v${i}-${n}`)})`)],
  [
    'field selectors',
    (i) => parseFieldSelector(Array.from({ length: 250 }, (_, n) => `f${i}-${n}=${'a'.repeat(200)}`).join()),
  ],
  ['quantities', (i) => [parseQuantity(`${i}${'0'.repeat(900)}`), canonicalQuantity(`${i}${'0'.repeat(900)}`)]],
  [
    'parts of long texts',
    (i) => canonicalQuantity(`${10_000_000_000_000 + i}${'x'.repeat(HEADER_LENGTH)}`.slice(0, 14)),
  ],
])('a cache that clients fill stays small: %s', async (_, add) => {
  await add(0);
  const before = bytesUsed();
  for (let i = 1; i <= 1_500; i++) await add(i);
  expect(bytesUsed() - before).toBeLessThan(40_000_000);
});

it('drops old versions of objects in cached lists', () => {
  const registry = { onChange() {}, serves: () => true } as unknown as Registry;
  const lists = new ListBodies(registry);
  const resource = { version: { apiVersion: 'v1' }, kind: { plural: 'configmaps' } } as unknown as Resource;
  const table = { generation: 0 };
  const before = bytesUsed();
  for (let i = 0; i < 60; i++) {
    table.generation++;
    const view = { content: Buffer.alloc(1_000_000, i) } as unknown as View;
    const key = { resource, table: table as unknown as Table, text: `a!=${i}` };
    expect(lists.views(key, () => [view])).toEqual([view]);
    expect(lists.views(key, () => [])).toEqual([view]);
  }
  expect(bytesUsed() - before).toBeLessThan(10_000_000);
});
