import { PassThrough, Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { ApiError } from '../../api/errors.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { type Forward, forwardedTransport } from './forwarded-transport.ts';
import type { Request } from './transport.ts';

const TARGET = { apiVersion: 'gauges.example.com/v1', plural: 'gauges', namespace: 'default' } as const;
const LIST: Request = { verb: 'list', ...TARGET, metadataOnly: true };
const GET: Request = { verb: 'get', ...TARGET, name: 'heat' };
const clock = new ControlledClock();

type Sent = Parameters<Forward>[0];

function answering(body: string, statusCode = 200) {
  const sent: Sent[] = [];
  const forward: Forward = async (request) => {
    sent.push(request);
    return Object.assign(Readable.from([Buffer.from(body)]), { statusCode });
  };
  return { transport: forwardedTransport(forward, { clock }), sent };
}

const json = (value: unknown) => answering(JSON.stringify(value));
const item = (metadata: unknown) => ({ kind: 'GaugeList', metadata: {}, items: [{ metadata }] });

it('forwardedTransport sends requests in their HTTP form, and requests metadata in a way that every server understands', async () => {
  const { transport, sent } = json({ kind: 'GaugeList', metadata: { resourceVersion: '7' }, items: null });
  await expect(transport.call({ ...LIST, options: { limit: 5 } })).resolves.toEqual({
    ...{ type: 'list', metadata: { resourceVersion: '7' }, items: [], bytes: expect.any(Number) },
  });
  expect(sent[0]).toMatchObject({
    ...{ method: 'GET', url: '/apis/gauges.example.com/v1/namespaces/default/gauges?limit=5' },
    headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json' },
  });
});

it('forwardedTransport reports an object as missing only for a Status', async () => {
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', message: 'no heat' };
  await expect(answering(JSON.stringify(status), 404).transport.call(GET)).rejects.toMatchObject({
    ...{ reason: 'NotFound', message: 'no heat' },
  });
  for (const other of ['404 page not found', '{"error":"no such route"}', '']) {
    await expect(answering(other, 404).transport.call(GET)).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
  }
});

it('forwardedTransport passes on why the server did not forward it', async () => {
  const transport = forwardedTransport(() => Promise.reject(new ApiError('Forbidden', 'no')), { clock });
  await expect(transport.call(GET)).rejects.toMatchObject({ reason: 'Forbidden', message: 'no' });
});

it.each([
  ['metadata', undefined],
  ['metadata.uid', { uid: 7 }],
  ['metadata.labels', { labels: 'zone' }],
  ['metadata.annotations', { annotations: { zone: {} } }],
  ['metadata.finalizers', { finalizers: 'hold' }],
  ['metadata.finalizers', { finalizers: [null] }],
  ['metadata.ownerReferences', { ownerReferences: {} }],
  ['metadata.ownerReferences', { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'a' }] }],
])('forwardedTransport rejects an object with malformed %s', async (field, metadata) => {
  const message = `the aggregated API server sent an object with malformed ${field}`;
  await expect(json(item(metadata)).transport.call(LIST)).rejects.toMatchObject({ reason: 'InternalError', message });
  const { transport } = answering(`${JSON.stringify({ type: 'ADDED', object: { metadata } })}\n`);
  const events = (await transport.watch({ ...LIST, verb: 'watch' }))[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({ message });
});

it('forwardedTransport treats null as a missing field', async () => {
  const answer = await json(item({ name: 'heat', deletionTimestamp: null, finalizers: null })).transport.call(LIST);
  expect(answer).toMatchObject({ items: [{ metadata: { name: 'heat' } }] });
  expect((answer as any).items[0].metadata).not.toHaveProperty('deletionTimestamp');
});

it('forwardedTransport rejects responses that are too deep or too large, at low cost', async () => {
  const started = process.cpuUsage();
  await expect(answering('['.repeat(3_000_000)).transport.call(LIST)).rejects.toThrow('nested deeper than 100');
  expect(process.cpuUsage(started).user).toBeLessThan(100_000);
  await expect(answering(' '.repeat(17 * 1024 * 1024)).transport.call(LIST)).rejects.toThrow('larger than');
  const body = new PassThrough();
  const transport = forwardedTransport(async () => Object.assign(body, { statusCode: 200 }), { clock });
  const events = (await transport.watch({ ...LIST, verb: 'watch' }))[Symbol.asyncIterator]();
  const next = events.next();
  for (let i = 0; i < 17; i++) body.write(Buffer.alloc(1024 * 1024, ' '));
  await expect(next).rejects.toThrow('larger than');
  expect(body.destroyed).toBe(true);
});

it('forwardedTransport has a timeout', async () => {
  const aborted: boolean[] = [];
  const forward: Forward = ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        aborted.push(true);
        reject(new Error('gone'));
      });
    });
  const call = forwardedTransport(forward, { clock }).call(GET);
  const failure = expect(call).rejects.toMatchObject({ reason: 'Timeout' });
  await clock.advance(60_000);
  await failure;
  expect(aborted).toEqual([true]);
});
