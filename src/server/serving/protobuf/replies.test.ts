/** Protobuf replies of the real server over HTTP, decoded with the reader of request bodies. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../../test/support/http-server.ts';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import type { ObjectReply, WatchBatch, WatchConsumer } from '../../../api/reply.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { allKinds } from '../../../kinds/all.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { ProtoReader } from '../../../protocols/protobuf/reader.ts';
import { plainItem } from '../../objects/body/body.ts';
import { View } from '../../objects/cache/entry/view.ts';
import { batchOf } from '../../objects/reads/watch-channel.ts';
import type { HttpServer } from '../http/server.ts';
import { ProtobufBodies } from './bodies.ts';
import { PROTOBUF_TYPE } from './envelope.ts';
import { ProtobufReplies } from './replies.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const METADATA = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
/** The Accept header of Go programs. */
const GO = `${PROTOBUF_TYPE},application/json`;

let api: TestServer;
let http: HttpServer;
let base: string;
let bodies: ProtobufBodies;

beforeAll(async () => {
  api = await testServer(allKinds);
  const { handle, registry } = api.server;
  bodies = new ProtobufBodies(registry, 100);
  ({ server: http } = await startServer({ handle, registry, clock: systemClock, limits: { drainTimeoutMs: 100 } }));
  base = `http://127.0.0.1:${(await http.listenInsecure(0, '127.0.0.1')).port}`;
  for (const name of ['a', 'b']) await api.create('configmaps', { metadata: { name }, data: { key: name, empty: '' } });
});

afterAll(async () => {
  await http.close();
  api.server.close();
});

const unknown = { apiVersion: 'unknown', kind: 'Unknown' };
const decode = (bytes: Buffer): any => bodies.decode(bytes, unknown);

async function ask(path: string, { accept = GO, ...init }: RequestInit & { accept?: string } = {}) {
  const answer = await fetch(base + path, { ...init, headers: { accept, ...init.headers } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { code: answer.status, type: answer.headers.get('content-type'), bytes };
}

const inJson = async (path: string): Promise<any> => (await fetch(base + path)).json();

/** Returns the fields of a message that contain bytes, by number. */
function fieldsOf(bytes: Buffer): Map<number, Buffer[]> {
  const fields = new Map<number, Buffer[]>();
  const wire = new ProtoReader(bytes);
  for (let field = wire.next(); field; field = wire.next()) {
    fields.set(field, [...(fields.get(field) ?? []), wire.bytes()]);
  }
  return fields;
}

/** Returns the type in an envelope, and its bytes. */
function opened(bytes: Buffer): { type: string; raw: Buffer } {
  expect(bytes.subarray(0, 4).toString()).toBe('k8s\0');
  const fields = fieldsOf(bytes.subarray(4));
  const type = fieldsOf(fields.get(1)![0]!);
  return { type: `${type.get(1)} ${type.get(2)}`, raw: fields.get(2)![0]! };
}

describe('a reply in protobuf', () => {
  it('is an object', async () => {
    const { code, type, bytes } = await ask(`${MAPS}/a`);
    expect({ code, type }).toEqual({ code: 200, type: PROTOBUF_TYPE });
    expect(decode(bytes)).toEqual(await inJson(`${MAPS}/a`));
  });

  it('is a list', async () => {
    const { type, bytes } = await ask(MAPS);
    expect(type).toBe(PROTOBUF_TYPE);
    const list = opened(bytes);
    expect(list.type).toBe('v1 ConfigMapList');
    const fields = fieldsOf(list.raw);
    const expected = await inJson(MAPS);
    expect(fieldsOf(fields.get(1)![0]!).get(2)!.toString()).toBe(expected.metadata.resourceVersion);
    const replies = new ProtobufReplies(api.server.registry);
    const items = expected.items.map((item: any) => {
      const object = { ...item, apiVersion: 'v1', kind: 'ConfigMap' };
      return opened((replies.encode({ type: 'object', item: plainItem(object) }, undefined) as any).bytes).raw;
    });
    expect(fields.get(2)).toEqual(items);
    expect((await ask(MAPS)).bytes).toEqual(bytes);
  });

  it('is an empty list', async () => {
    const { raw } = opened((await ask('/api/v1/namespaces/default/secrets')).bytes);
    expect(fieldsOf(raw).get(2)).toBeUndefined();
  });

  it('is a page', async () => {
    const page = fieldsOf(opened((await ask(`${MAPS}?limit=1`)).bytes).raw);
    expect(page.get(2)).toHaveLength(1);
    expect(fieldsOf(page.get(1)![0]!.subarray(0, -2)).get(3)).toHaveLength(1);
  });

  it('is the created, patched or deleted object', async () => {
    const headers = { 'content-type': 'application/json' };
    const created = await ask(MAPS, { method: 'POST', headers, body: JSON.stringify({ metadata: { name: 'c' } }) });
    expect(decode(created.bytes)).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'c' } });
    const patch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } };
    const patched = await ask(`${MAPS}/c`, { ...patch, body: '{"data":{"x":"y"}}' });
    expect(decode(patched.bytes)).toMatchObject({ data: { x: 'y' } });
    const deleted = await ask(`${MAPS}/c`, { method: 'DELETE' });
    expect(deleted.type).toBe(PROTOBUF_TYPE);
    expect(decode(deleted.bytes)).toMatchObject({ kind: 'Status', status: 'Success', details: { name: 'c' } });
    const none = await ask(`${MAPS}?labelSelector=none`, { method: 'DELETE' });
    expect(decode(none.bytes)).toMatchObject({ kind: 'Status', status: 'Success' });
  });

  it('is an error', async () => {
    const { code, type, bytes } = await ask(`${MAPS}/missing`);
    expect({ code, type }).toEqual({ code: 404, type: PROTOBUF_TYPE });
    const { metadata: _, ...status } = (await inJson(`${MAPS}/missing`)) as any;
    expect(decode(bytes)).toMatchObject(status);
  });

  it('contains only the metadata, even for kinds without a protobuf form', async () => {
    const { type, bytes } = await ask(`${MAPS}/a`, { accept: `${PROTOBUF_TYPE};${METADATA}` });
    expect(type).toBe(PROTOBUF_TYPE);
    const { type: kind, raw } = opened(bytes);
    expect(kind).toBe('meta.k8s.io/v1 PartialObjectMetadata');
    expect([...fieldsOf(raw).keys()]).toEqual([1]);
    const list = opened((await ask(MAPS, { accept: `${PROTOBUF_TYPE};${METADATA_LIST}` })).bytes);
    expect(list.type).toBe('meta.k8s.io/v1 PartialObjectMetadataList');
    expect(fieldsOf(list.raw).get(2)).toHaveLength(2);
    const old = '/apis/batch/v2alpha1/namespaces/default/cronjobs';
    expect((await ask(old, { accept: `${PROTOBUF_TYPE};${METADATA_LIST}` })).type).toBe(PROTOBUF_TYPE);
  });

  it('is JSON for kinds without a protobuf form, and 406 if only protobuf is accepted', async () => {
    const old = '/apis/batch/v2alpha1/namespaces/default/cronjobs';
    expect(await ask(old)).toMatchObject({ code: 200, type: 'application/json' });
    expect(await ask(old, { accept: PROTOBUF_TYPE })).toMatchObject({ code: 406, type: PROTOBUF_TYPE });
  });
});

it('a watch in protobuf sends frames', async () => {
  const abort = new AbortController();
  const path = `${MAPS}?watch=true&fieldSelector=metadata.name%3Da`;
  const answer = await fetch(base + path, { headers: { accept: GO }, signal: abort.signal });
  expect(answer.headers.get('content-type')).toBe(`${PROTOBUF_TYPE};stream=watch`);
  const reader = answer.body!.getReader();
  let read = Buffer.alloc(0);
  const next = async () => {
    while (read.length < 4 || read.length < 4 + read.readUInt32BE(0)) {
      read = Buffer.concat([read, (await reader.read()).value!]);
    }
    const fields = fieldsOf(read.subarray(4, 4 + read.readUInt32BE(0)));
    read = read.subarray(4 + read.readUInt32BE(0));
    return { type: String(fields.get(1)), object: decode(fieldsOf(fields.get(2)![0]!).get(1)![0]!) };
  };
  expect(await next()).toEqual({ type: 'ADDED', object: await inJson(`${MAPS}/a`) });
  const patch = { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' } };
  await ask(`${MAPS}/a`, { ...patch, body: '{"data":{"more":"yes"}}' });
  expect(await next()).toEqual({ type: 'MODIFIED', object: await inJson(`${MAPS}/a`) });
  abort.abort();
});

it('a watch in protobuf sends bookmarks and errors, and the same frames to all watches of a selection', () => {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 410 } as const;
  const bookmark = { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '7' } } as KubeObject;
  const batch = batchOf([
    { type: 'BOOKMARK', object: bookmark, json: () => Buffer.alloc(0) },
    { type: 'ERROR', object: status, json: () => Buffer.alloc(0) },
  ]);
  const replies = new ProtobufReplies(api.server.registry);
  const sent: WatchBatch[] = [];
  const consumer = { events: (each: WatchBatch) => void sent.push(each), backlog: () => 0, end: () => undefined };
  const source = { type: 'watch', attach: (to: WatchConsumer) => to.events(batch), stop: () => undefined } as const;
  for (let watch = 0; watch < 2; watch++) replies.watch(source, undefined).attach(consumer);
  const objects = sent[0]!.events.map((event) => {
    const frame = event.json();
    expect(frame.readUInt32BE(0)).toBe(frame.length - 4);
    return decode(fieldsOf(fieldsOf(frame.subarray(4)).get(2)![0]!).get(1)![0]!);
  });
  expect(objects).toEqual([bookmark, status]);
  expect(sent[1]).toBe(sent[0]);
});

it('creates the bytes of an object once, without decoding it', async () => {
  const call = {
    apiVersion: 'v1',
    plural: 'configmaps',
    namespace: 'default',
    name: 'b',
    user: { name: 'u', groups: [] },
  } as const;
  const { item } = (await api.server.handle({ ...call, verb: 'get' })) as ObjectReply;
  if (!(item instanceof View)) throw new Error('not from the cache');
  let encodings = 0;
  const encoding = { encode: (object: KubeObject) => Buffer.from(`${object.metadata.name}${encodings++}`) };
  expect(String(item.encoded(encoding))).toBe('b0');
  expect(String(item.encoded(encoding))).toBe('b0');
});
