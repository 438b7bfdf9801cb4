/** Names and numbers at the limits of their syntax: each is either accepted and usable, or rejected with a 4xx. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../../test/support/http-server.ts';
import { systemClock as clock } from '../../../base/time/clock.ts';
import { allKinds } from '../../../kinds/all.ts';
import { openEmbeddedStore, type Store } from '../../../store/index.ts';
import { createServer, type Server } from '../../index.ts';
import type { HttpServer } from './server.ts';

let directory: string;
let store: Store;
let core: Server;
let http: HttpServer;
let base: string;

async function start(): Promise<void> {
  store = await openEmbeddedStore({ directory, clock });
  core = await createServer({ kinds: allKinds, store, clock });
  ({ server: http } = await startServer({ handle: core.handle, registry: core.registry }));
  base = `http://127.0.0.1:${(await http.listenInsecure(0, '127.0.0.1')).port}`;
}

async function stop(): Promise<void> {
  await http.close();
  core.close();
  await store.close();
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'quarterdeck-values-'));
  await start();
});

afterAll(async () => {
  await stop();
  await rm(directory, { recursive: true, force: true });
});

async function send(method: string, path: string, body?: unknown): Promise<{ code: number; body: any }> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(base + path, { method, headers, ...(text === undefined ? {} : { body: text }) });
  return { code: response.status, body: await response.json() };
}

const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
const CLUSTER_ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

describe('the name of a role', () => {
  const accepted = [
    'a\nb',
    'a\0b',
    '\0',
    '\n',
    'a\tb',
    '\x7f',
    '\u202e',
    ' ',
    'a b',
    'A:b',
    '*',
    'ä',
    '\u{1f600}',
    'a?b#c&d',
    '-',
  ];

  it.each([ROLES, CLUSTER_ROLES])('can have any characters, and the role can be read and deleted: %s', async (path) => {
    for (const name of accepted) {
      expect(await send('POST', path, { metadata: { name } }), JSON.stringify(name)).toMatchObject({ code: 200 });
    }
    // Names are keys of the store, too.
    await stop();
    await start();
    for (const name of accepted) {
      const at = `${path}/${encodeURIComponent(name)}`;
      const found = await send('GET', at);
      expect(found, JSON.stringify(name)).toMatchObject({ code: 200, body: { metadata: { name } } });
      expect(await send('PUT', at, { ...found.body, rules: [] })).toMatchObject({ code: 200 });
      const listed = await send('GET', `${path}?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`);
      expect(listed.body.items).toHaveLength(1);
      expect(await send('DELETE', at)).toMatchObject({ code: 200 });
      expect(await send('GET', at)).toMatchObject({ code: 404 });
    }
  });

  it.each(['a/b', 'a%b', '.', '..', '\ud800', 'a\udc00b'])('cannot be %j', async (name) => {
    expect((await send('POST', ROLES, { metadata: { name } })).code).toBe(422);
  });

  it('does not make other paths accept control characters', async () => {
    for (const path of ['/api/v1/namespaces/a%00/pods', '/api/v1/namespaces/a/pods/b%0a', `${ROLES}/a%2fb`]) {
      expect((await send('GET', path)).code).toBe(400);
    }
  });
});

describe('a number at its limits', () => {
  const PODS = '/api/v1/namespaces/default/pods';
  const container = { name: 'main', image: 'busybox' };
  /** Numbers in their JSON spelling. */
  const NUMBERS = [
    ...['0', '-0', '1', '-1', '1.5', '-1e-400', '1e400', '-1e400', '2147483647', '2147483648', '-2147483649'],
    ...['9007199254740991', '9007199254740992', '-9007199254740993', '9223372036854775807', '9223372036854775808'],
    ...['18446744073709551616', '8640000000000', '8640000000001', '253402300800', '1e21', '12345678901234567890e-5'],
  ];

  it.each(NUMBERS)('as a grace period or deadline: %s', async (number) => {
    for (const at of ['terminationGracePeriodSeconds', 'activeDeadlineSeconds']) {
      const name = 'edge';
      const body = JSON.stringify({ metadata: { name }, spec: { containers: [container], nodeName: 'n', [at]: 0 } });
      const created = await send('POST', PODS, body.replace(`"${at}":0`, `"${at}":${number}`));
      expect([200, 400, 422]).toContain(created.code);
      if (created.code !== 200)
        await send('POST', PODS, { metadata: { name }, spec: { containers: [container], nodeName: 'n' } });
      const deleted = await send('DELETE', `${PODS}/${name}`);
      expect(deleted.code).toBe(200);
      for (const text of [`{"gracePeriodSeconds":${number}}`, '{"gracePeriodSeconds":5}', '{"gracePeriodSeconds":0}']) {
        expect([200, 400, 404, 422]).toContain((await send('DELETE', `${PODS}/${name}`, text)).code);
      }
    }
  });

  it('is limited as a grace period, which ends at a time that can be represented', async () => {
    const spec = { containers: [container], nodeName: 'n' };
    await send('POST', PODS, { metadata: { name: 'far' }, spec });
    await send('DELETE', `${PODS}/far`, { gracePeriodSeconds: Number.MAX_SAFE_INTEGER });
    const { metadata } = (await send('GET', `${PODS}/far`)).body;
    expect(metadata.deletionTimestamp).toMatch(/^9999-12-31T23:59:5\dZ$/);
    // A grace period can be shortened, and counts from the first delete.
    await send('DELETE', `${PODS}/far`, { gracePeriodSeconds: 3_600 });
    const shortened = (await send('GET', `${PODS}/far`)).body.metadata;
    expect(shortened.deletionGracePeriodSeconds).toBe(3_600);
    const left = Date.parse(shortened.deletionTimestamp) - Date.now();
    expect(left).toBeGreaterThan(3_000_000);
    expect(left).toBeLessThanOrEqual(3_600_000);
  });

  // Requests wait for a future version.
  it.concurrent.each(NUMBERS)('in the query: %s', async (number) => {
    for (const query of ['limit', 'timeoutSeconds', 'gracePeriodSeconds', 'resourceVersion']) {
      const code = (await send('GET', `${PODS}?${query}=${encodeURIComponent(number)}`)).code;
      expect(code, query).toBeLessThan(query === 'resourceVersion' ? 505 : 500);
      expect((await send('DELETE', `${PODS}/nobody?${query}=${encodeURIComponent(number)}`)).code).toBeLessThan(500);
    }
  });

  it.each(NUMBERS)('in other fields: %s', async (number) => {
    const bodies: [string, object][] = [
      ['/api/v1/namespaces/default/serviceaccounts/default/token', { spec: { expirationSeconds: 7 } }],
      ['/apis/batch/v1/namespaces/default/cronjobs', { spec: { startingDeadlineSeconds: 7 } }],
      ['/apis/apps/v1/namespaces/default/statefulsets', { spec: { replicas: 7 } }],
      ['/apis/coordination.k8s.io/v1/namespaces/default/leases', { spec: { leaseDurationSeconds: 7 } }],
      ['/api/v1/namespaces/default/configmaps', { metadata: { name: 'a', generation: 7 } }],
      [
        PODS,
        {
          metadata: { name: 'p' },
          spec: {
            containers: [container],
            tolerations: [{ operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 7 }],
          },
        },
      ],
    ];
    for (const [path, body] of bodies) {
      const named = JSON.stringify({ metadata: { name: 'number' }, ...body }).replace(/:7\b/, `:${number}`);
      expect((await send('POST', `${path}?dryRun=All`, named)).code, path).toBeLessThan(500);
    }
  });
});
