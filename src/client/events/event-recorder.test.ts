import { afterEach, beforeEach, expect, it } from 'vitest';
import { ScriptedApi, type TestObject } from '../../../test/support/scripted-api.ts';
import { ApiError } from '../../api/errors.ts';
import { silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { createClient } from '../client.ts';
import { createEventRecorder, type EventRecorder } from './event-recorder.ts';

let api: ScriptedApi;
let clock: ControlledClock;
let stop: AbortController;
let recorder: EventRecorder;

beforeEach(() => {
  api = new ScriptedApi();
  clock = new ControlledClock();
  stop = new AbortController();
  const client = createClient(api);
  const component = 'test-controller';
  recorder = createEventRecorder({ client, clock, random: systemRandom, component, signal: stop.signal });
});
afterEach(async () => {
  stop.abort();
  await recorder.flushed();
  expect(clock.waiting).toBe(0);
});

const object = (name: string, namespace?: string) => ({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name, uid: `uid-${name}`, resourceVersion: '7', ...(namespace ? { namespace } : {}) },
});
const events = () => api.list('events');
const counts = () => events().map((each: TestObject) => [each.message, each.count]);

it('the event recorder writes the component, the content and the object', async () => {
  recorder.event(object('web', 'x'), 'Normal', 'SuccessfulCreate', 'Created pod: web-1');
  await recorder.flushed();
  const { metadata, ...event } = events()[0] as TestObject;
  expect(metadata.name).toMatch(/^web\.[0-9a-f]{16}$/);
  expect(event).toEqual({
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'web',
      namespace: 'x',
      uid: 'uid-web',
      resourceVersion: '7',
    },
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: 'Created pod: web-1',
    count: 1,
    firstTimestamp: '2030-01-01T00:00:00Z',
    lastTimestamp: '2030-01-01T00:00:00Z',
    source: { component: 'test-controller' },
    reportingComponent: 'test-controller',
  });
});

it('the event recorder names events of the same moment in order', async () => {
  const messages = Array.from({ length: 20 }, (_, index) => `step ${index}`);
  for (const message of messages) recorder.event(object('web', 'x'), 'Normal', message, message);
  await recorder.flushed();
  const byName = events().sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
  expect(byName.map(({ message }) => message)).toEqual(messages);
});

it('the event recorder names the part of an object, and counts each part separately', async () => {
  const part = (name: string) => ({ ...object('web', 'x'), fieldPath: `spec.containers{${name}}` });
  for (const name of ['a', 'b', 'a']) recorder.event(part(name), 'Normal', 'Started', 'Container started');
  await recorder.flushed();
  expect(events().map(({ involvedObject, count }: TestObject) => [involvedObject.fieldPath, count])).toEqual([
    ['spec.containers{a}', 2],
    ['spec.containers{b}', 1],
  ]);
});

it('the event recorder puts events about cluster-scoped objects into the default namespace', async () => {
  recorder.event(object('n'), 'Normal', 'Ready', 'ready');
  await recorder.flushed();
  expect(events()[0]?.metadata.namespace).toBe('default');
});

it('the event recorder counts a repeated event, and creates it again when it was deleted', async () => {
  const say = () => recorder.event(object('web', 'x'), 'Warning', 'FailedCreate', 'no');
  say();
  await recorder.flushed();
  await clock.advance(5000);
  say();
  await recorder.flushed();
  const [event] = events();
  expect(counts()).toEqual([['no', 2]]);
  expect(event?.firstTimestamp).toBe('2030-01-01T00:00:00Z');
  expect(event?.lastTimestamp).toBe('2030-01-01T00:00:05Z');
  api.remove('events', 'x', event?.metadata.name ?? '');
  say();
  await recorder.flushed();
  expect(counts()).toEqual([['no', 3]]);
});

it('the event recorder combines similar events from the tenth on', async () => {
  for (let i = 0; i < 14; i++) recorder.event(object('web', 'x'), 'Normal', 'SuccessfulCreate', `Created pod: ${i}`);
  await recorder.flushed();
  expect(counts().slice(0, 9)).toEqual(Array.from({ length: 9 }, (_, i) => [`Created pod: ${i}`, 1]));
  expect(counts().slice(9)).toEqual([['(combined from similar events): Created pod: 13', 5]]);
  await clock.advance(600_001);
  recorder.event(object('web', 'x'), 'Normal', 'SuccessfulCreate', 'Created pod: later');
  await recorder.flushed();
  expect(counts().at(-1)).toEqual(['Created pod: later', 1]);
});

it('the event recorder mutes an object with too many events, and not others', async () => {
  for (let i = 0; i < 40; i++) {
    recorder.event(object('noisy', 'x'), 'Warning', `Reason${i}`, 'no');
    await recorder.flushed();
  }
  recorder.event(object('quiet', 'x'), 'Warning', 'Reason', 'no');
  await recorder.flushed();
  expect(events().filter(({ involvedObject }) => involvedObject.name === 'noisy')).toHaveLength(25);
  expect(events().filter(({ involvedObject }) => involvedObject.name === 'quiet')).toHaveLength(1);
  await clock.advance(300_000);
  recorder.event(object('noisy', 'x'), 'Warning', 'Later', 'no');
  await recorder.flushed();
  expect(events().filter(({ involvedObject }) => involvedObject.name === 'noisy')).toHaveLength(26);
});

it('the event recorder drops no event of a burst about many objects, and keeps their order', async () => {
  const names = Array.from({ length: 10_000 }, (_, i) => `web-${i}`);
  for (const name of names) recorder.event(object(name, 'x'), 'Normal', 'Scheduled', `to a node: ${name}`);
  await recorder.flushed();
  expect(events().map(({ involvedObject }) => involvedObject.name)).toEqual(names);
});

it('the event recorder sends events that arrive while another is sent', async () => {
  for (let moment = 0; moment < 60; moment++) {
    const before = events().length;
    recorder.event(object(`first-${moment}`, 'x'), 'Normal', 'Scheduled', 'there');
    for (let ticks = 0; ticks < moment; ticks++) await Promise.resolve();
    recorder.event(object(`second-${moment}`, 'x'), 'Normal', 'Scheduled', 'there');
    await recorder.flushed();
    expect(events()).toHaveLength(before + 2);
  }
});

it('the event recorder logs the number of dropped events when the queue is full', async () => {
  const said: unknown[] = [];
  const log = { ...silent, warn: (message: string, fields: unknown) => void said.push([message, fields]) };
  const client = createClient(api);
  const full = createEventRecorder({ client, clock, random: systemRandom, component: 'c', maxQueued: 10, log });
  for (let i = 0; i < 15; i++) full.event(object(`web-${i}`, 'x'), 'Normal', 'Scheduled', 'there');
  full.event(object('web-14', 'x'), 'Normal', 'Scheduled', 'there');
  await full.flushed();
  // The first event was being sent already.
  expect(events()).toHaveLength(11);
  expect(said).toEqual([['events were dropped: too many at once', { count: 5 }]]);
});

it('the event recorder retries while the server is unreachable, and drops events that it rejects', async () => {
  api.reject(() => new ApiError('ServiceUnavailable', 'away'));
  recorder.event(object('web', 'x'), 'Normal', 'First', 'first');
  await clock.advance(2000);
  api.reject(({ body }) => (JSON.stringify(body).includes('second') ? new ApiError('Invalid', 'no') : undefined));
  recorder.event(object('web', 'x'), 'Normal', 'Second', 'second');
  recorder.event(object('web', 'x'), 'Normal', 'Third', 'third');
  await clock.advance(10_000);
  await recorder.flushed();
  expect(counts()).toEqual([
    ['first', 1],
    ['third', 1],
  ]);
});

it('the event recorder shortens long messages', async () => {
  recorder.event(object('web', 'x'), 'Warning', 'FailedCreate', 'x'.repeat(1_000_000));
  await recorder.flushed();
  expect((events()[0] as any).message).toBe(`${'x'.repeat(1020)} ...`);
});

it('the event recorder stops at once', async () => {
  api.reject(() => new ApiError('ServiceUnavailable', 'away'));
  recorder.event(object('web', 'x'), 'Normal', 'First', 'first');
  await clock.advance(0);
  stop.abort();
  await recorder.flushed();
  recorder.event(object('web', 'x'), 'Normal', 'Second', 'second');
  expect(events()).toEqual([]);
});
