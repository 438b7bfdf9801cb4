import { beforeEach, describe, expect, it } from 'vitest';
import { nodeObject, podObject, podOf, TestWorld } from '../../../test/support/scheduler/test-world.ts';
import { systemRandom } from '../../base/random.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import type { ClusterEvent } from '../framework/events.ts';
import { plugins } from '../plugins/all.ts';
import { SchedulingQueue } from './scheduling-queue.ts';

let clock: ControlledClock;
let queue: SchedulingQueue;
let woken: number;

beforeEach(() => {
  clock = new ControlledClock();
  woken = 0;
  const onReady = () => void woken++;
  queue = new SchedulingQueue({ clock, random: systemRandom, plugins, world: new TestWorld(), onReady });
});

const take = () => queue.take()?.info.name;
const rejected = (name: string, ...by: string[]) => {
  queue.add(podOf({ name }));
  queue.reject(queue.take()!, new Set(by));
};
const nodeAdded: ClusterEvent = { resource: 'Node', type: 'add', object: nodeObject('a') };
const podGone: ClusterEvent = { resource: 'Pod', type: 'delete', object: podObject({ spec: { nodeName: 'a' } }) };

it('the queue is ordered by priority, then by waiting time', () => {
  queue.add(podOf({ name: 'early' }));
  queue.add(podOf({ name: 'late' }));
  queue.add(podOf({ name: 'urgent', spec: { priority: 1 } }));
  expect([take(), take(), take(), take()]).toEqual(['urgent', 'early', 'late', undefined]);
  expect(woken).toBe(3);
});

it('the queue drops deleted pods, and returns a changed pod once', () => {
  queue.add(podOf({ name: 'a' }));
  queue.add(podOf({ name: 'b' }));
  queue.update(podOf({ name: 'b', labels: { new: 'yes' } }));
  queue.delete('default/a');
  expect(queue.isReady).toBe(true);
  expect(queue.take()?.info.labels).toEqual({ new: 'yes' });
  expect(queue.isReady).toBe(false);
});

describe('a pod that did not fit', () => {
  it('waits for an event that may help it', async () => {
    rejected('a', 'NodeResourcesFit');
    await clock.advance(60_000);
    queue.note({ resource: 'Pod', type: 'add', object: podObject() });
    expect(take()).toBeUndefined();
    queue.note(podGone);
    expect(take()).toBe('a');
  });

  it('is not woken by other events', async () => {
    rejected('a', 'NodeAffinity');
    await clock.advance(60_000);
    queue.note(podGone);
    expect(take()).toBeUndefined();
    queue.note(nodeAdded);
    expect(take()).toBe('a');
  });

  it('waits out its back-off, which grows from one second to ten', async () => {
    queue.add(podOf({ name: 'a' }));
    for (const seconds of [1, 2, 4, 8, 10, 10]) {
      queue.reject(queue.take()!, new Set(['NodeResourcesFit']));
      queue.note(podGone);
      expect(queue.get('default/a')?.state).toBe('backing off');
      await clock.advance(seconds * 1000 - 1);
      expect(queue.isReady).toBe(false);
      await clock.advance(1);
      expect(queue.isReady).toBe(true);
    }
  });

  it('is retried after five minutes in any case', async () => {
    rejected('a', 'NodeAffinity');
    await clock.advance(299_999);
    expect(queue.isReady).toBe(false);
    await clock.advance(1);
    expect(take()).toBe('a');
  });

  it('because there was no node is woken by the first one', async () => {
    rejected('a');
    await clock.advance(60_000);
    queue.note(podGone);
    expect(queue.isReady).toBe(false);
    queue.note(nodeAdded);
    expect(take()).toBe('a');
  });

  it('is woken by its own changes that may help, and not by its status', async () => {
    const tolerations = [{ key: 'x', operator: 'Exists' }];
    rejected('a', 'TaintToleration');
    await clock.advance(60_000);
    queue.update(podOf({ name: 'a', status: { message: 'waiting' } }));
    expect(queue.isReady).toBe(false);
    queue.update(podOf({ name: 'a', spec: { tolerations } }));
    expect(take()).toBe('a');
  });

  it('can be activated', async () => {
    rejected('a', 'NodeAffinity');
    queue.activate('default/a');
    expect(queue.isReady).toBe(false);
    await clock.advance(1_000);
    expect(take()).toBe('a');
  });
});

const gated = { name: 'a', spec: { schedulingGates: [{ name: 'x.io/hold' }] } };

it('a gated pod is not tried until its last gate is gone', async () => {
  queue.add(podOf(gated));
  await clock.advance(600_000);
  queue.note(nodeAdded);
  expect(take()).toBeUndefined();
  queue.update(podOf({ name: 'a' }));
  expect(take()).toBe('a');
});

it('a pod whose binding failed is retried after its back-off', async () => {
  queue.add(podOf({ name: 'a' }));
  queue.retry(queue.take()!);
  await clock.advance(999);
  expect(queue.isReady).toBe(false);
  await clock.advance(1);
  expect(take()).toBe('a');
});

it('a pod whose binding failed is dropped when it was deleted meanwhile', async () => {
  queue.add(podOf({ name: 'a' }));
  const waiting = queue.take()!;
  queue.delete('default/a');
  queue.retry(waiting);
  queue.reject(waiting, new Set());
  await clock.advance(600_000);
  expect(queue.isReady).toBe(false);
});

it('has no timer while no pod waits for time', async () => {
  expect(clock.waiting).toBe(0);
  rejected('a', 'NodeAffinity');
  expect(clock.waiting).toBe(1);
  queue.delete('default/a');
  await clock.advance(300_000);
  expect(clock.waiting).toBe(0);
  rejected('b', 'NodeAffinity');
  queue.close();
  expect(clock.waiting).toBe(0);
});
