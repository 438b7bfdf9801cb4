/** Tables and metadata of the real server over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { FakeWatch, startServer } from '../../../../test/support/http-server.ts';
import { exampleOf } from '../../../../test/support/kinds/examples.ts';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { ApiError } from '../../../api/errors.ts';
import type { WatchBatch, WatchEvent } from '../../../api/reply.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { allKinds } from '../../../kinds/all.ts';
import type { HttpServer } from '../http/server.ts';
import { shapeWatch } from './reply.ts';

const PODS = '/api/v1/namespaces/default/pods';
const table = (version = 'v1') => `application/json;as=Table;v=${version};g=meta.k8s.io`;
const metadataAs = (kind: string, version = 'v1') => `application/json;as=${kind};v=${version};g=meta.k8s.io`;
/** The Accept header of kubectl. */
const KUBECTL = `${table()},${table('v1beta1')},application/json`;

let api: TestServer;
let http: HttpServer;
let base: string;

beforeAll(async () => {
  api = await testServer(allKinds);
  const { handle, registry } = api.server;
  const clock = { ...systemClock, now: () => api.clock.now() };
  ({ server: http } = await startServer({ handle, registry, clock, limits: { drainTimeoutMs: 100 } }));
  base = `http://127.0.0.1:${(await http.listenInsecure(0, '127.0.0.1')).port}`;
  for (const name of ['a', 'b']) {
    await api.create('pods', {
      metadata: { name, labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
  }
  await api.create(
    'deployments',
    {
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
    { apiVersion: 'apps/v1' },
  );
  await api.clock.advance(90_000);
});

afterAll(async () => {
  await http.close();
  api.server.close();
});

async function ask(path: string, accept: string, init: RequestInit = {}): Promise<any> {
  const answer = await fetch(base + path, { ...init, headers: { accept, ...init.headers } });
  const body = await answer.json();
  return { code: answer.status, type: answer.headers.get('content-type'), ...(body as object) };
}

describe('a table', () => {
  it('shows a list in the columns of its kind', async () => {
    const { code, type, kind, apiVersion, metadata, columnDefinitions, rows } = await ask(PODS, KUBECTL);
    expect({ code, type, kind, apiVersion }).toEqual({
      code: 200,
      type: 'application/json',
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
    });
    expect(metadata.resourceVersion).toMatch(/^\d+$/);
    const names = ['Name', 'Ready', 'Status', 'Restarts', 'Age', 'IP', 'Node', 'Nominated Node', 'Readiness Gates'];
    expect(columnDefinitions.map(({ name }: any) => name)).toEqual(names);
    expect(columnDefinitions[0]).toEqual({
      name: 'Name',
      type: 'string',
      format: 'name',
      description: expect.any(String),
      priority: 0,
    });
    expect(columnDefinitions[5]).toMatchObject({ name: 'IP', format: '', priority: 1 });
    expect(rows.map(({ cells }: any) => cells)).toEqual([
      ['a', '0/1', 'Pending', '0', '90s', '<none>', '<none>', '<none>', '<none>'],
      ['b', '0/1', 'Pending', '0', '90s', '<none>', '<none>', '<none>', '<none>'],
    ]);
    expect(rows[0].object).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name: 'a', labels: { app: 'a' }, resourceVersion: expect.any(String) },
    });
    expect(rows[0].object.spec).toBeUndefined();
  });

  it('shows one object', async () => {
    const { kind, metadata, rows } = await ask(`${PODS}/b`, table());
    expect(kind).toBe('Table');
    expect(rows).toHaveLength(1);
    expect(metadata).toEqual({ resourceVersion: rows[0].object.metadata.resourceVersion });
  });

  it('is available in an older version', async () => {
    const { apiVersion, rows } = await ask(PODS, table('v1beta1'));
    expect(apiVersion).toBe('meta.k8s.io/v1beta1');
    expect(rows[0].object.apiVersion).toBe('meta.k8s.io/v1beta1');
  });

  it.each([
    ['None', (object: any) => expect(object).toBeNull()],
    ['Metadata', (object: any) => expect(object.kind).toBe('PartialObjectMetadata')],
    ['', (object: any) => expect(object.kind).toBe('PartialObjectMetadata')],
    [
      'Object',
      (object: any) => expect(object).toMatchObject({ kind: 'Pod', apiVersion: 'v1', spec: { containers: [{}] } }),
    ],
  ])('includes the requested part of the object: %s', async (include, check) => {
    for (const path of [PODS, `${PODS}/a`]) {
      const { rows } = await ask(`${path}?includeObject=${include}`, table());
      check(rows[0].object);
    }
  });

  it('rejects an unknown part of the object', async () => {
    expect(await ask(`${PODS}?includeObject=Half`, table())).toMatchObject({
      code: 400,
      kind: 'Status',
      message:
        "Unable to convert to Table as requested: includeObject: Invalid value: \"Half\": must be 'Metadata', 'Object', 'None', or empty",
    });
  });

  it('of an empty list has columns and no rows', async () => {
    const { columnDefinitions, rows } = await ask('/api/v1/namespaces/default/configmaps', table());
    expect(columnDefinitions.map(({ name }: any) => name)).toEqual(['Name', 'Data', 'Age']);
    expect(rows).toEqual([]);
  });

  it('continues where a page ended', async () => {
    const first = await ask(`${PODS}?limit=1`, table());
    expect(first.metadata).toMatchObject({ continue: expect.any(String), remainingItemCount: 1 });
    const second = await ask(`${PODS}?limit=1&continue=${first.metadata.continue}`, table());
    expect([first, second].map(({ rows }) => rows[0].cells[0])).toEqual(['a', 'b']);
  });

  it.each(['apps/v1', 'apps/v1beta1', 'extensions/v1beta1'])('reads the stored version for %s', async (apiVersion) => {
    const path = `/apis/${apiVersion}/namespaces/default/deployments`;
    const { rows } = await ask(`${path}?includeObject=Object`, table());
    expect(rows[0].cells).toEqual(['web', '0/2', 0, 0, '90s', 'c', 'i', 'app=web']);
    expect(rows[0].object.apiVersion).toBe(apiVersion);
  });

  it('shows a scale', async () => {
    const { rows } = await ask('/apis/apps/v1/namespaces/default/deployments/web/scale', table());
    expect(rows[0].cells).toEqual(['web', 2, 0, '90s']);
  });

  it('is returned for a write, even one that is not stored', async () => {
    const body = JSON.stringify({ metadata: { name: 'web' }, spec: { replicas: 3 } });
    const init = { method: 'PATCH', body, headers: { 'content-type': 'application/merge-patch+json' } };
    const path = '/apis/extensions/v1beta1/namespaces/default/deployments/web';
    const { rows } = await ask(`${path}?dryRun=All`, table(), init);
    expect(rows[0].cells.slice(0, 2)).toEqual(['web', '0/3']);
  });

  it('shows flow schemas by their precedence', async () => {
    const apiVersion = 'flowcontrol.apiserver.k8s.io/v1';
    for (const [name, matchingPrecedence] of Object.entries({ 'a-late': 900, 'b-early': 10, 'c-late': 900 })) {
      const spec = { matchingPrecedence, priorityLevelConfiguration: { name: 'any' } };
      await api.create('flowschemas', { metadata: { name }, spec }, { apiVersion, namespace: '' });
    }
    const { rows } = await ask(`/apis/${apiVersion}/flowschemas`, table());
    expect(rows.map(({ cells }: any) => cells[0])).toEqual(['b-early', 'a-late', 'c-late']);
  });

  it('shows that a pod is done', async () => {
    await api.create('pods', { metadata: { name: 'done' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    await api.patch('pods', 'done', { status: { phase: 'Succeeded' } }, { subresource: 'status' });
    const { rows } = await ask(`${PODS}/done`, table());
    const message = 'The pod has completed successfully.';
    expect(rows[0].conditions).toEqual([{ type: 'Completed', status: 'True', reason: 'Succeeded', message }]);
  });

  it('can be encoded as YAML', async () => {
    const accept = 'application/yaml;as=Table;v=v1;g=meta.k8s.io';
    const answer = await fetch(`${base}${PODS}/a`, { headers: { accept } });
    expect(answer.headers.get('content-type')).toBe('application/yaml');
    expect(parse(await answer.text())).toMatchObject({
      kind: 'Table',
      rows: [{ cells: ['a', '0/1', 'Pending', '0', '90s', ...Array(4).fill('<none>')] }],
    });
  });
});

describe('metadata only', () => {
  it.each(['v1', 'v1beta1'])('is returned for one object, in %s', async (version) => {
    const { code, type: _, ...body } = await ask(`${PODS}/a`, metadataAs('PartialObjectMetadata', version));
    expect(code).toBe(200);
    const { metadata } = await api.get('pods', 'a');
    expect(body).toEqual({ kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata });
  });

  it.each(['v1', 'v1beta1'])('is returned for a list, in %s', async (version) => {
    const body = await ask(`${PODS}?limit=1`, metadataAs('PartialObjectMetadataList', version));
    expect(body).toMatchObject({
      kind: 'PartialObjectMetadataList',
      apiVersion: `meta.k8s.io/${version}`,
      metadata: { resourceVersion: expect.any(String), continue: expect.any(String) },
      items: [{ kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: { name: 'a' } }],
    });
    expect(Object.keys(body.items[0])).toEqual(['kind', 'apiVersion', 'metadata']);
  });

  describe('asked for as client-go does', () => {
    const accept = (kind: string) => `${metadataAs(kind)},application/json`;

    it('answers a get, a list and a patch', async () => {
      expect(await ask(`${PODS}/a`, accept('PartialObjectMetadata'))).toMatchObject({
        type: 'application/json',
        kind: 'PartialObjectMetadata',
        metadata: { name: 'a' },
      });
      expect(await ask(`${PODS}?labelSelector=app`, accept('PartialObjectMetadataList'))).toMatchObject({
        kind: 'PartialObjectMetadataList',
        items: [{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }, { metadata: { name: 'b' } }],
      });
      const body = JSON.stringify({ metadata: { annotations: { touched: 'yes' } } });
      const init = { method: 'PATCH', body, headers: { 'content-type': 'application/merge-patch+json' } };
      expect(await ask(`${PODS}/a?dryRun=All`, accept('PartialObjectMetadata'), init)).toMatchObject({
        kind: 'PartialObjectMetadata',
        metadata: { annotations: { touched: 'yes' } },
      });
    });

    it('answers the deletes with a Status', async () => {
      await api.create('configmaps', { metadata: { name: 'gone', labels: { going: 'yes' } } });
      const path = '/api/v1/namespaces/default/configmaps?labelSelector=going=yes';
      const answer = await ask(path, accept('PartialObjectMetadataList'), { method: 'DELETE' });
      expect(answer).toMatchObject({ kind: 'Status', status: 'Success' });
      await api.create('configmaps', { metadata: { name: 'gone' } });
      const one = '/api/v1/namespaces/default/configmaps/gone';
      expect(await ask(one, accept('PartialObjectMetadata'), { method: 'DELETE' })).toMatchObject({ kind: 'Status' });
    });
  });

  it('is not available for one object in the form of a list', async () => {
    expect(await ask(PODS, metadataAs('PartialObjectMetadata'))).toMatchObject({
      code: 406,
      reason: 'NotAcceptable',
      message: 'you requested PartialObjectMetadata, but the requested object is a list (PodList)',
    });
  });

  it('is not available for a list in the form of one object', async () => {
    expect(await ask(`${PODS}/a`, metadataAs('PartialObjectMetadataList'))).toMatchObject({
      code: 406,
      message: 'you requested PartialObjectMetadataList, but the requested object is not a list (Pod)',
    });
  });
});

describe('a reply without objects', () => {
  it('stays a Status for a failure', async () => {
    expect(await ask(`${PODS}/nobody`, KUBECTL)).toMatchObject({ code: 404, kind: 'Status', reason: 'NotFound' });
  });

  it('stays a Status for a delete', async () => {
    await api.create('configmaps', { metadata: { name: 'gone' } });
    const path = '/api/v1/namespaces/default/configmaps/gone';
    expect(await ask(path, KUBECTL, { method: 'DELETE' })).toMatchObject({ kind: 'Status', status: 'Success' });
  });

  it('has no other form for discovery', async () => {
    expect((await ask('/api/v1', KUBECTL)).kind).toBe('APIResourceList');
    expect((await ask('/api/v1', table())).code).toBe(406);
  });

  describe.each(allKinds.filter(({ verbs }) => verbs && !verbs.includes('get') && !verbs.includes('list')))(
    'has no rows: $kind, which is answered and not kept',
    (kind) => {
      const [scope, namespace] = kind.scope === 'Namespaced' ? ['namespaces/default/', 'default'] : ['', undefined];
      const root = kind.group ? `/apis/${kind.hub.apiVersion}` : `/api/${kind.hub.apiVersion}`;
      const post = (accept: string) => {
        const example = exampleOf(kind);
        const body = JSON.stringify({ ...example, metadata: { ...example.metadata, namespace } });
        const headers = { 'content-type': 'application/json' };
        return ask(`${root}/${scope}${kind.plural}`, accept, { method: 'POST', headers, body });
      };

      it.each(['v1', 'v1beta1'])('as a Table of %s', async (version) => {
        expect(await post(table(version))).toMatchObject({ code: 406, reason: 'NotAcceptable' });
      });

      it('and is itself where the client accepts that, too', async () => {
        expect(['Status', kind.kind]).toContain((await post(KUBECTL)).kind);
      });
    },
  );

  it('is rejected in an unknown form', async () => {
    const accept = 'application/json;as=Chart;v=v1;g=meta.k8s.io';
    expect(await ask(PODS, accept)).toMatchObject({ code: 406, reason: 'NotAcceptable' });
  });
});

describe('a watch', () => {
  async function eventsOf(query: string, accept: string, count: number): Promise<any[]> {
    const abort = new AbortController();
    const answer = await fetch(`${base}${PODS}?watch=true${query}`, { headers: { accept }, signal: abort.signal });
    const events: any[] = [];
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body!) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split('\n');
      text = lines.pop()!;
      events.push(...lines.map((line) => JSON.parse(line)));
      if (events.length >= count) break;
    }
    abort.abort();
    return events;
  }

  it('sends the columns of a table once', async () => {
    const events = await eventsOf('&fieldSelector=metadata.name!=done', KUBECTL, 2);
    expect(events.map(({ type, object }) => [type, object.kind, object.rows[0].cells[0]])).toEqual([
      ['ADDED', 'Table', 'a'],
      ['ADDED', 'Table', 'b'],
    ]);
    expect(events[0].object.columnDefinitions).toHaveLength(9);
    expect(events[1].object.columnDefinitions).toBeNull();
    expect(events[1].object.metadata.resourceVersion).toBe(events[1].object.rows[0].object.metadata.resourceVersion);
  });

  it('sends only metadata', async () => {
    const [event] = await eventsOf('&fieldSelector=metadata.name=a', metadataAs('PartialObjectMetadata'), 1);
    expect(event).toMatchObject({ type: 'ADDED', object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } });
    expect(event.object.spec).toBeUndefined();
  });

  it('sends only metadata to an informer, including bookmarks', async () => {
    const kind = 'PartialObjectMetadata';
    const accept = `${metadataAs(kind)},application/json`;
    const events = await eventsOf(`&fieldSelector=metadata.name=a${initial}`, accept, 2);
    expect(events.map(({ type, object }) => [type, object.kind])).toEqual([
      ['ADDED', kind],
      ['BOOKMARK', kind],
    ]);
    expect(events[1].object.metadata).toMatchObject({
      resourceVersion: expect.stringMatching(/^\d+$/),
      annotations: { 'k8s.io/initial-events-end': 'true' },
    });
  });

  const initial = '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

  it.each(['None', 'Metadata', 'Object'])('marks its beginning, in a table with %s', async (include) => {
    const events = await eventsOf(`&fieldSelector=metadata.name=a${initial}&includeObject=${include}`, KUBECTL, 2);
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    const [row] = events[1].object.rows;
    expect(row.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
  });

  it('is encoded once for all clients that request the same form', () => {
    const resource = api.server.registry.resource('v1', 'pods')!;
    let read = 0;
    const event: WatchEvent = {
      type: 'MODIFIED',
      get object() {
        read++;
        return { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } } as never;
      },
      json: () => Buffer.from('{}'),
    };
    const batch: WatchBatch = { events: [event], json: () => Buffer.from('{}') };
    const sent = (kind: 'Table' | 'PartialObjectMetadata') => {
      const watch = new FakeWatch();
      const batches: WatchBatch[] = [];
      const form = { kind, group: 'meta.k8s.io', version: 'v1' } as const;
      const shaping = { form, include: 'Metadata', resource, now: () => 0 } as const;
      shapeWatch(watch, shaping).attach({ events: (each) => batches.push(each), backlog: () => 0, end: () => {} });
      watch.consumer!.events(batch);
      return batches[0]!.json();
    };
    const [table, metadata] = [sent('Table'), sent('PartialObjectMetadata')];
    expect(table.equals(metadata)).toBe(false);
    const readBefore = read;
    for (let i = 0; i < 10; i++) {
      expect(sent('Table')).toBe(table);
      expect(sent('PartialObjectMetadata')).toBe(metadata);
    }
    expect(read).toBe(readBefore);
  });

  it('fails with the message of the API', () => {
    const { registry } = api.server;
    const watch = new FakeWatch();
    const batches: WatchBatch[] = [];
    const form = { kind: 'Table', group: 'meta.k8s.io', version: 'v1' } as const;
    const shaping = { form, include: 'Metadata', resource: registry.resource('v1', 'pods')!, now: () => 0 } as const;
    shapeWatch(watch, shaping).attach({ events: (batch) => batches.push(batch), backlog: () => 0, end: () => {} });
    const object = new ApiError('Expired', 'too old').toStatus();
    const error: WatchEvent = { type: 'ERROR', object, json: () => Buffer.from('{}') };
    watch.consumer!.events({ events: [error], json: () => Buffer.from('{}') });
    expect(batches[0]!.events).toEqual([error]);
  });
});

// Must be the last test, since it advances the clock.
it('shows current ages, and the current state of objects, in each table', async () => {
  const shown = async () => {
    const { rows } = await ask(`${PODS}/aging`, KUBECTL);
    const [name, , status, , age] = rows[0].cells;
    return { name, status, age };
  };
  await api.create('pods', { metadata: { name: 'aging' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  expect(await shown()).toEqual({ name: 'aging', status: 'Pending', age: '0s' });
  await api.clock.advance(3_000);
  expect(await shown()).toEqual({ name: 'aging', status: 'Pending', age: '3s' });
  await api.patch('pods', 'aging', { status: { phase: 'Running' } }, { subresource: 'status' });
  expect(await shown()).toEqual({ name: 'aging', status: 'Running', age: '3s' });
  await api.delete('pods', 'aging', { options: { gracePeriodSeconds: 0 } });
});
