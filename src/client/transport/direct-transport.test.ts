import { expect, it } from 'vitest';
import { notFound } from '../../api/errors.ts';
import { deepFreeze } from '../../base/json/tree.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { type DirectReply, directTransport } from './direct-transport.ts';
import type { RawEvent, Request } from './transport.ts';

const request: Request = { verb: 'get', apiVersion: 'v1', plural: 'pods', namespace: 'x', name: 'a' };
const object = deepFreeze({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', resourceVersion: '7' } });
const event = (name: string): RawEvent => ({ type: 'ADDED', object: { ...object, metadata: { name } } });

function answering(reply: DirectReply) {
  const calls: Request[] = [];
  const transport = directTransport(async (call) => {
    calls.push(call);
    return reply;
  });
  return { calls, transport };
}

/** A watch that the test pushes events to. */
function watching() {
  const state = { stopped: 0, attached: undefined as Parameters<WatchReply['attach']>[0] | undefined };
  const reply: WatchReply = {
    type: 'watch',
    attach: (consumer) => {
      state.attached = consumer;
    },
    stop: () => {
      state.stopped++;
    },
  };
  return { state, ...answering(reply) };
}
type WatchReply = Extract<DirectReply, { type: 'watch' }>;

it('directTransport returns the server’s own object', async () => {
  const { calls, transport } = answering({ type: 'object', item: { object } });
  const answer = await transport.call(request);
  expect(calls).toEqual([request]);
  expect(answer.type === 'object' && answer.object).toBe(object);
});

it('directTransport returns the objects of a list', async () => {
  const metadata = { resourceVersion: '9', continue: 'next' };
  const items = [{ object, metadata: object.metadata }];
  const { transport } = answering({ type: 'list', metadata, items, decode: () => undefined });
  expect(await transport.call({ ...request, verb: 'list' })).toEqual({ type: 'list', metadata, items: [object] });
});

it('directTransport does not decode objects when only metadata is requested', async () => {
  const item = {
    metadata: object.metadata,
    get object(): KubeObject {
      throw new Error('the object was decoded');
    },
  };
  const metadata = { resourceVersion: '9' };
  const { transport } = answering({ type: 'list', metadata, items: [item], decode: () => Promise.reject() });
  const answer = await transport.call({ ...request, verb: 'list', metadataOnly: true });
  expect(answer).toMatchObject({ items: [{ kind: 'PartialObjectMetadata', metadata: object.metadata }] });
});

it('directTransport passes a copy of the body, as a JSON parser would make it', async () => {
  const { calls, transport } = answering({ type: 'object', item: { object } });
  const body = deepFreeze({ a: { b: [1, undefined, { c: undefined }] }, d: undefined, ['__proto__']: { e: 1 } });
  await transport.call({ ...request, verb: 'update', body });
  const sent = calls[0]?.body as any;
  expect(JSON.stringify(sent)).toBe(JSON.stringify(body));
  expect(Object.keys(sent)).toEqual(['a', '__proto__']);
  sent.a.b.push('the server may write');
  expect(Object.getPrototypeOf(sent)).toBe(Object.prototype);
});

it('directTransport rejects with the error of the server', async () => {
  const error = notFound({ group: '', plural: 'pods' }, 'a');
  const transport = directTransport(() => Promise.reject(error));
  await expect(transport.call(request)).rejects.toBe(error);
});

it('directTransport does not call with a signal that is aborted', async () => {
  const { calls, transport } = answering({ type: 'object', item: { object } });
  const signal = AbortSignal.abort(new Error('stopping'));
  await expect(transport.call({ ...request, signal })).rejects.toThrow('stopping');
  expect(calls).toEqual([]);
});

it('directTransport delivers pushed events in order and in batches, and ends when the server ends', async () => {
  const { state, transport } = watching();
  const stream = await transport.watch({ ...request, verb: 'watch' });
  state.attached?.events({ events: [event('a'), event('b')] });
  state.attached?.events({ events: [event('c')] });
  expect(state.attached?.backlog()).toBeGreaterThan(0);
  state.attached?.end();
  const batches: unknown[] = [];
  for await (const batch of stream) batches.push(batch);
  expect(batches).toEqual([['a', 'b', 'c'].map(event)]);
  expect(state.attached?.backlog()).toBe(0);
  expect(state.stopped).toBe(1);
});

it('directTransport stops the watch on the server when the reader leaves, closes or aborts', async () => {
  const left = watching();
  const stream = await left.transport.watch({ ...request, verb: 'watch' });
  left.state.attached?.events({ events: [event('a')] });
  for await (const _ of stream) break;
  expect(left.state.stopped).toBe(1);

  const stop = new AbortController();
  const aborted = watching();
  const reading = (async () => {
    for await (const _ of await aborted.transport.watch({ ...request, verb: 'watch', signal: stop.signal }));
  })();
  await Promise.resolve();
  stop.abort();
  await reading;
  expect(aborted.state.stopped).toBe(1);
});
