import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { startWebhooks, type WebhookServer } from '../../../../test/support/webhook-server.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { CustomResourceDefinition } from '../../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';

const GROUP = 'fleet.example.com';
const CRD = { apiVersion: 'apiextensions.k8s.io/v1', namespace: '' };
const V1 = { apiVersion: `${GROUP}/v1` };
const V2 = { apiVersion: `${GROUP}/v2` };

let webhooks: WebhookServer;
let api: TestServer;

beforeAll(async () => {
  webhooks = await startWebhooks();
});
afterAll(() => webhooks.close());
beforeEach(async () => {
  api = await testServer([Namespace, CustomResourceDefinition]);
});

const schema = (field: string, type: string) => ({
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { [field]: { type } } } } },
});

const selectable = (field: string) => ({ selectableFields: [{ jsonPath: `.spec.${field}` }] });

/** Converts between v1, where the size is a string, and v2, where it is a number. */
function convert({ desiredAPIVersion, objects }: any) {
  const convertedObjects = objects.map((object: any) => {
    const { spec } = object;
    const next = desiredAPIVersion.endsWith('v2') ? { tons: Number(spec.size) } : { size: String(spec.tons) };
    return { ...object, apiVersion: desiredAPIVersion, spec: next };
  });
  return { convertedObjects, result: { status: 'Success' } };
}

const nameOf = ({ object }: any): string => object.metadata.name;

async function define(path: string, decide: Parameters<WebhookServer['on']>[1]): Promise<void> {
  webhooks.on(path, decide);
  const versions = [
    { name: 'v1', served: true, storage: false, schema: schema('size', 'string'), ...selectable('size') },
    { name: 'v2', served: true, storage: true, schema: schema('tons', 'integer'), ...selectable('tons') },
  ];
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      conversionReviewVersions: ['v1'],
      clientConfig: { url: webhooks.url(path), caBundle: webhooks.caBundle },
    },
  };
  const names = { plural: 'ships', kind: 'Ship' };
  const spec = { group: GROUP, scope: 'Namespaced', names, versions, conversion };
  const watch = await api.watch('customresourcedefinitions', CRD);
  await api.create('customresourcedefinitions', { metadata: { name: `ships.${GROUP}` }, spec }, CRD);
  for (;;) {
    const [event] = await watch.next();
    if (!event) throw new Error('the watch has ended');
    const { conditions = [] } = (event.object as any).status;
    if (conditions.some(({ type, status }: any) => type === 'Established' && status === 'True')) return watch.stop();
  }
}

it('stores the result of the webhook, and shows the object in every version', async () => {
  await define('convert', convert);
  const created = await api.create('ships', { metadata: { name: 'a', labels: { x: 'y' } }, spec: { size: '12' } }, V1);
  expect(created).toMatchObject({ ...V1, kind: 'Ship', metadata: { labels: { x: 'y' } }, spec: { size: '12' } });
  expect(await api.get('ships', 'a', V2)).toMatchObject({
    ...V2,
    spec: { tons: 12 },
    metadata: { uid: created.metadata.uid },
  });
  await api.patch('ships', 'a', { spec: { size: '13' } }, V1);
  expect((await api.get('ships', 'a', V2)).spec).toEqual({ tons: 13 });
  const list = await api.list('ships', V1);
  expect(list.items.map(({ object }: any) => object.spec)).toEqual([{ size: '13' }]);
});

it('selects objects by the fields of the requested version', async () => {
  const calls: string[] = [];
  await define('select', (request: any) => {
    calls.push(...request.objects.map(({ metadata }: any) => metadata.name));
    return convert(request);
  });
  const selected = (fieldSelector: string, version: typeof V1) =>
    api.list('ships', { ...version, options: { fieldSelector } }).then(({ items }) => items.map(nameOf));
  const watch = await api.watch('ships', { ...V1, options: { fieldSelector: 'spec.size=12' } });
  for (const [name, tons] of Object.entries({ a: 12, b: 13, c: 12 })) {
    await api.create('ships', { metadata: { name }, spec: { tons } }, V2);
  }
  expect(await selected('spec.size=12', V1)).toEqual(['a', 'c']);
  expect(await selected('spec.size!=12', V1)).toEqual(['b']);
  expect(await selected('spec.tons=13', V2)).toEqual(['b']);
  const limited = await api.list('ships', { ...V1, options: { fieldSelector: 'spec.size=12', limit: 1 } });
  expect(limited.items.map(nameOf)).toEqual(['a']);

  await api.patch('ships', 'a', { spec: { tons: 14 } }, V2);
  const seen: string[] = [];
  while (seen.length < 3) for (const { type, object } of await watch.next()) seen.push(`${type} ${nameOf({ object })}`);
  watch.stop();
  expect(seen).toEqual(['ADDED a', 'ADDED c', 'DELETED a']);

  calls.length = 0;
  await api.create('ships', { metadata: { name: 'd' }, spec: { tons: 1 } }, V2);
  await api.create('ships', { metadata: { name: 'e' }, spec: { tons: 1 } }, V2);
  expect(await selected('metadata.name=d', V1)).toEqual(['d']);
  expect(calls).toEqual(['d']);
});

it('sends large objects in several requests', async () => {
  const calls: number[] = [];
  await define('large', (request: any) => {
    if (request.objects.length > 1) calls.push(JSON.stringify(request.objects).length);
    return convert(request);
  });
  const annotations = { text: 'x'.repeat(200_000) };
  for (let i = 0; i < 15; i++) {
    await api.create('ships', { metadata: { name: `s${i}`, annotations }, spec: { tons: i } }, V2);
  }
  const { items } = await api.list('ships', V1);
  expect(items.map(({ object }: any) => object.spec.size).sort()).toEqual(
    Array.from({ length: 15 }, (_, i) => `${i}`).sort(),
  );
  expect(calls.length).toBe(2);
  expect(Math.max(...calls)).toBeLessThanOrEqual(2_100_000);
});

it('costs the caller an error when the webhook fails or returns an invalid response', async () => {
  let answer: object | string = '';
  await define('fail', () => answer);
  await api.create('ships', { metadata: { name: 'a' }, spec: { tons: 1 } }, V2);
  const rejected = async (next: object | string) => {
    answer = next;
    const error: any = await api.get('ships', 'a', V1).catch((thrown) => thrown);
    expect(error.reason).toBe('InternalError');
    return error.message;
  };
  const head = `conversion webhook for ${GROUP}/v2, Kind=Ship`;
  expect(await rejected('no JSON')).toBe(`${head} failed: the response is not JSON`);
  expect(await rejected('['.repeat(3_000_000))).toBe(`${head} failed: json: exceeded max depth`);
  expect(await rejected(`{"kind":"ConversionReview","response":[${'0,'.repeat(600_000)}0]}`)).toBe(
    `${head} failed: json: more than 600000 fields and list items`,
  );
  expect(await rejected({ result: { status: 'Failure', message: 'x'.repeat(20_000) } })).toHaveLength(10_000);
  expect(await rejected({ result: { status: 'Failure', message: 'too heavy' } })).toBe(`${head} failed: too heavy`);
  expect(await rejected({ result: { status: 'Success' }, convertedObjects: [] })).toBe(
    `${head} returned 0 objects, expected 1`,
  );
  const renamed = { ...V1, kind: 'Ship', metadata: { name: 'b' } };
  expect(await rejected({ result: { status: 'Success' }, convertedObjects: [renamed] })).toContain(
    'must have the same name: b != a',
  );
  expect((await api.get('ships', 'a', V2)).spec).toEqual({ tons: 1 });
});
