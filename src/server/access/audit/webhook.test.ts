import { expect, it, vi } from 'vitest';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import type { Post } from '../../outbound/webhooks/post.ts';
import { Webhook, type WebhookOptions } from './webhook.ts';

const event = (id: number, more: object = {}) => `${JSON.stringify({ kind: 'Event', auditID: `${id}`, ...more })}\n`;
const clock = new ControlledClock();

function webhookTo(post: Post, more: Partial<WebhookOptions> = {}): Webhook {
  return new Webhook({
    post,
    initialBackoffMs: 10_000,
    bufferSize: 100,
    maxBatchSize: 4,
    maxBatchWaitMs: 30_000,
    throttle: undefined,
    maxEventBytes: undefined,
    maxBatchBytes: 10_000,
    clock,
    random: systemRandom,
    log: silent,
    ...more,
  });
}

/** A receiver that collects the batches it was sent, as the names of their events. */
function receiver(answer: () => Promise<string> = async () => '') {
  const batches: string[][] = [];
  const bodies: any[] = [];
  const post = vi.fn<Post>(async (json) => {
    const body = JSON.parse(json);
    bodies.push(body);
    batches.push(body.items.map(({ auditID }: { auditID: string }) => auditID));
    return answer();
  });
  return { post, batches, bodies };
}

const reject = () => Promise.reject(new Error('webhook answered 503'));

it('the audit webhook sends full batches at once, and the rest after the maximum wait', async () => {
  const { post, batches, bodies } = receiver();
  const webhook = webhookTo(post);
  for (let i = 1; i <= 9; i++) webhook.write(event(i));
  expect(batches).toEqual([
    ['1', '2', '3', '4'],
    ['5', '6', '7', '8'],
  ]);
  await clock.advance(29_000);
  expect(batches).toHaveLength(2);
  await clock.advance(1_000);
  expect(batches[2]).toEqual(['9']);
  expect(bodies[2]).toEqual({
    kind: 'EventList',
    apiVersion: 'audit.k8s.io/v1',
    metadata: {},
    items: [{ kind: 'Event', auditID: '9' }],
  });
  expect(webhook.dropped).toEqual({ buffered: 0, truncate: 0, webhook: 0 });
});

it('the audit webhook retries with a growing delay after any error, and finally drops the batch', async () => {
  const { post, batches } = receiver(reject);
  const webhook = webhookTo(post);
  for (let i = 1; i <= 4; i++) webhook.write(event(i));
  await clock.advance(7_900);
  expect(batches).toHaveLength(1);
  for (const pause of [10_000, 15_000, 22_500, 33_750]) await clock.advance(pause);
  expect(batches).toEqual(Array(5).fill(['1', '2', '3', '4']));
  expect(webhook.dropped).toMatchObject({ webhook: 4 });
  await clock.advance(600_000);
  expect(batches).toHaveLength(5);
});

it('the audit webhook loses nothing when the receiver is briefly unavailable', async () => {
  let isAway = true;
  const { post, batches } = receiver(() => (isAway ? reject() : Promise.resolve('')));
  const webhook = webhookTo(post);
  for (let i = 1; i <= 8; i++) webhook.write(event(i));
  await clock.advance(1);
  isAway = false;
  await clock.advance(20_000);
  expect(batches.slice(2).flat().sort()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
  expect(webhook.dropped).toMatchObject({ webhook: 0, buffered: 0 });
});

it('the audit webhook throttles batches, and drops what does not fit into the buffer', async () => {
  const { post, batches } = receiver();
  const webhook = webhookTo(post, { throttle: { qps: 2, burst: 2 }, bufferSize: 10 });
  for (let i = 1; i <= 20; i++) webhook.write(event(i));
  expect(batches).toHaveLength(2);
  expect(webhook.dropped).toMatchObject({ buffered: 2 });
  await clock.advance(499);
  expect(batches).toHaveLength(2);
  await clock.advance(1);
  expect(batches).toHaveLength(3);
  await clock.advance(60_000);
  expect(batches.flat()).toHaveLength(18);
});

it('the audit webhook limits the bytes it holds, including batches being sent', async () => {
  const { post } = receiver(() => new Promise(() => undefined));
  const webhook = webhookTo(post, { maxBatchSize: 1 });
  const large = event(1, { requestObject: 'x'.repeat(20 * 1024 * 1024) });
  for (let i = 0; i < 5; i++) webhook.write(large);
  expect(post).toHaveBeenCalledTimes(3);
  expect(webhook.dropped).toMatchObject({ buffered: 2 });
});

it('the audit webhook splits a batch that would be too large', async () => {
  const { post, batches } = receiver();
  const webhook = webhookTo(post, { maxBatchBytes: 250 });
  for (let i = 1; i <= 4; i++) webhook.write(event(i, { requestObject: 'x'.repeat(100) }));
  await clock.advance(60_000);
  expect(batches).toEqual([['1'], ['2'], ['3'], ['4']]);
});

it('the audit webhook truncates large events if configured, and drops those that are still too large', async () => {
  const { post, bodies } = receiver();
  const webhook = webhookTo(post, { maxEventBytes: 200 });
  const objects = { requestObject: { a: 'x'.repeat(500) }, responseObject: { b: 1 } };
  webhook.write(event(1, { annotations: { k: 'v' }, ...objects }));
  webhook.write(event(2, { userAgent: 'x'.repeat(300) }));
  webhook.write(event(3));
  await clock.advance(30_000);
  expect(bodies[0].items).toEqual([
    { kind: 'Event', auditID: '1', annotations: { k: 'v', 'audit.k8s.io/truncated': 'true' } },
    { kind: 'Event', auditID: '3' },
  ]);
  expect(webhook.dropped).toMatchObject({ truncate: 1 });
});

it('the audit webhook aborts an attempt that takes too long', async () => {
  const { post } = receiver();
  post.mockImplementation(
    (_json, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  const webhook = webhookTo(post);
  for (let i = 1; i <= 4; i++) webhook.write(event(i));
  await clock.advance(30_000);
  await clock.advance(10_000);
  expect(post).toHaveBeenCalledTimes(2);
});

it('the audit webhook sends buffered events on close, retries failed ones once, and accepts nothing more', async () => {
  let isAway = true;
  const { post, batches } = receiver(() => (isAway ? reject() : Promise.resolve('')));
  const webhook = webhookTo(post);
  for (let i = 1; i <= 5; i++) webhook.write(event(i));
  await clock.advance(1);
  isAway = false;
  await webhook.close();
  expect(batches.slice(1).flat().sort()).toEqual(['1', '2', '3', '4', '5']);
  webhook.write(event(6));
  expect(webhook.dropped).toEqual({ buffered: 1, truncate: 0, webhook: 0 });
});

it('the audit webhook closes in time when the receiver does not answer', async () => {
  const { post } = receiver();
  post.mockImplementation(
    (_json, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  const webhook = webhookTo(post);
  webhook.write(event(1));
  const closed = webhook.close();
  await clock.advance(5_000);
  await closed;
  expect(webhook.dropped).toMatchObject({ webhook: 1 });
});
