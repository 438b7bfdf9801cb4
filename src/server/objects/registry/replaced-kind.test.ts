/** A definition is replaced while the server runs: afterwards, nothing of the old one may be served. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Answer, askHttp1 } from '../../../../test/support/http-client.ts';
import { type RunningServer, startServer, TOKEN } from '../../../../test/support/http-server.ts';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { name } from '../../../kinds/columns/column.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { defineKind } from '../../../kinds/kind.ts';
import { s } from '../../../schema/builders.ts';

const GROUP = 'example.com';
const base = { group: GROUP, kind: 'Boat', plural: 'boats', scope: 'Namespaced', description: 'A boat.' } as const;
const oldSpec = s.object('BoatSpec', { size: s.int32(), colour: s.string({ default: 'grey' }) });

const Before = defineKind({
  ...base,
  short: ['bt'],
  versions: { [`${GROUP}/v1`]: {} },
  fields: { spec: oldSpec },
  columns: ({ integer }) => [name, integer('Size', '', ({ spec }) => spec?.size)],
  subresources: { scale: { replicas: 'spec.size', observed: 'spec.size', selector: 'spec.colour' } },
});

/** The replacement, stored in another version, with another schema, columns and subresources. */
const After = defineKind({
  ...base,
  short: ['boat'],
  versions: {
    [`${GROUP}/v2`]: {},
    [`${GROUP}/v1`]: {
      fields: { spec: oldSpec },
      toHub: ({ spec, ...rest }: any) => ({ ...rest, spec: { berths: spec.size } }),
      fromHub: ({ spec, ...rest }: any) => ({ ...rest, spec: { size: spec.berths, colour: 'converted' } }),
    },
  },
  fields: { spec: s.object('BoatSpec', { berths: s.int32(), sails: s.boolean({ default: true }) }) },
  columns: ({ integer }) => [name, integer('Berths', '', ({ spec }) => spec?.berths)],
});

const AT = { apiVersion: `${GROUP}/v1` };
const LIST = `/apis/${GROUP}/v1/namespaces/default/boats`;
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

let api: TestServer;
let http: RunningServer;

beforeEach(async () => {
  api = await testServer([Namespace, Before]);
  const { handle, registry } = api.server;
  http = await startServer({ handle, registry });
  for (const each of ['a', 'b']) await api.create('boats', { metadata: { name: each }, spec: { size: 3 } }, AT);
});

afterEach(async () => {
  await http.server.close();
  api.server.close();
});

function replace(): void {
  api.server.registry.remove(Before);
  api.server.registry.add(After);
}

async function ask(path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const { port, authority } = http;
  return askHttp1({ port, ca: authority.ca, path, headers: { authorization: `Bearer ${TOKEN}`, ...headers } });
}

const specs = (list: any) => list.items.map(({ spec }: any) => spec);

it('shows objects through the new definition, even in lists that were requested before', async () => {
  const revision = (await ask(LIST)).json().metadata.resourceVersion;
  expect(specs((await ask(LIST)).json())).toEqual([
    { size: 3, colour: 'grey' },
    { size: 3, colour: 'grey' },
  ]);
  replace();
  const converted = { size: 3, colour: 'converted' };
  expect(specs((await ask(LIST)).json())).toEqual([converted, converted]);
  expect(specs((await ask(`${LIST}?limit=5`)).json())).toEqual([converted, converted]);
  const exact = `${LIST}?resourceVersion=${revision}&resourceVersionMatch=Exact`;
  expect(specs((await ask(exact)).json())).toEqual([converted, converted]);
  expect((await ask(`${LIST}/a`)).json().spec).toEqual(converted);
  const hub = (await ask(LIST.replace('v1', 'v2'))).json();
  expect(specs(hub)).toEqual([{ berths: 3 }, { berths: 3 }]);
});

it('writes in the new stored version, and validates with the new schema', async () => {
  replace();
  await api.patch('boats', 'a', { spec: { berths: 4 } }, { apiVersion: `${GROUP}/v2` });
  const stored = await api.store.get(`/registry/${GROUP}/boats/default/a`);
  expect(JSON.parse(stored!.value.toString())).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: { berths: 4 } });
  expect((await api.get('boats', 'a', AT)).spec).toEqual({ size: 4, colour: 'converted' });
});

it('shows tables with the new columns', async () => {
  const cells = async () => {
    const { columnDefinitions, rows } = (await ask(LIST, TABLE)).json();
    return [columnDefinitions.map((column: any) => column.name), ...rows.map((row: any) => row.cells)];
  };
  expect(await cells()).toEqual([
    ['Name', 'Size'],
    ['a', 3],
    ['b', 3],
  ]);
  replace();
  expect(await cells()).toEqual([
    ['Name', 'Berths'],
    ['a', 3],
    ['b', 3],
  ]);
});

it('ends the watches of the old definition, and starts new ones that see only the new', async () => {
  const old = await api.watch('boats', { ...AT, options: { allowWatchBookmarks: true } });
  await old.next(2);
  const spaces = await api.watch('namespaces', { namespace: '' });
  replace();
  expect(old.ended).toBe(true);
  expect(spaces.ended).toBe(false);
  expect(old.events.every(({ type }) => type !== 'ERROR')).toBe(true);
  const watch = await api.watch('boats', AT);
  await watch.next(2);
  await api.create('boats', { metadata: { name: 'c' }, spec: { size: 1 } }, AT);
  const [added] = await watch.next();
  expect(added).toMatchObject({ type: 'ADDED', object: { spec: { size: 1, colour: 'converted' } } });
  expect(old.events).toHaveLength(2);
});

it('ends a watch that was starting when its kind was removed', async () => {
  const { revision } = { revision: (await api.get('boats', 'a', AT)).metadata.resourceVersion };
  const watch = await api.watch('boats', { ...AT, options: { resourceVersion: revision } });
  api.server.registry.remove(Before);
  await watch.next(5);
  expect(watch.ended).toBe(true);
});

it('counts requests for the new kind only', async () => {
  await ask(LIST);
  const old = api.watch('boats', AT);
  await (await old).next(2);
  replace();
  await ask(LIST);
  await ask(`${LIST}/a`);
  const lines = (await ask('/metrics')).text.split('\n').filter((line) => line.includes('resource="boats"'));
  const series = lines.map((line) => line.slice(0, line.lastIndexOf(' ')));
  expect(new Set(series).size).toBe(series.length);
  const lists = lines.filter((line) => line.startsWith('apiserver_request_total') && line.includes('verb="LIST"'));
  expect(lists.map((line) => line.split(' ').at(-1))).toEqual(['1']);
});

it('publishes the new versions, names and schemas', async () => {
  const v3 = `/openapi/v3/apis/${GROUP}/v1`;
  const fields = async (path: string) => {
    const { schemas } = (await ask(path)).json().components;
    return Object.keys(schemas[`com.example.${path.split('/').at(-1)}.BoatSpec`].properties);
  };
  expect(await fields(v3)).toEqual(['colour', 'size']);
  const names = async () => (await ask(`/apis/${GROUP}/v1`)).json().resources.map((row: any) => row.name);
  expect(await names()).toEqual(['boats', 'boats/scale']);
  expect((await ask(`${LIST}/a/scale`)).code).toBe(200);
  replace();
  expect(await fields(v3)).toEqual(['colour', 'size']);
  expect(await fields(`/openapi/v3/apis/${GROUP}/v2`)).toEqual(['berths', 'sails']);
  expect((await ask('/openapi/v2')).json().definitions['com.example.v2.BoatSpec'].properties).toHaveProperty('berths');
  expect(await names()).toEqual(['boats']);
  expect((await ask(`${LIST}/a/scale`)).code).toBe(404);
  const [group] = (await ask('/apis')).json().groups;
  expect(group.versions.map(({ version }: any) => version)).toEqual(['v2', 'v1']);
});

it('serves nothing of a removed kind', async () => {
  await ask(LIST);
  await ask(`${LIST}/a`);
  api.server.registry.remove(Before);
  expect((await ask(LIST)).code).toBe(404);
  expect((await ask(`${LIST}/a`)).code).toBe(404);
  expect((await ask(`/apis/${GROUP}`)).code).toBe(404);
  expect((await ask('/metrics')).text).not.toContain('resource="boats"');
});
