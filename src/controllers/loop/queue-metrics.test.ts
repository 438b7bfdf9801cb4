import { expect, it } from 'vitest';
import { SeededRandom } from '../../base/random.ts';
import { WorkQueue } from '../../base/reconcile/work-queue.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { QueueMetrics } from './queue-metrics.ts';

it('measures how long keys wait and are processed', async () => {
  const { clock, queue, text } = measuredQueue();
  queue.add('a');
  queue.add('a');
  queue.add('b');
  expect(text()).toContain('workqueue_depth{name="jobs"} 2');
  expect(text()).toContain('workqueue_adds_total{name="jobs"} 2');
  await clock.advance(2_000);
  const ends = new Map<string, () => void>();
  const running = queue.run((key) => new Promise<void>((resolve) => ends.set(key, resolve)));
  await clock.advance(3_000);
  expect([...ends.keys()]).toEqual(['a']);
  expect(text()).toContain('workqueue_depth{name="jobs"} 1');
  expect(text()).toContain('workqueue_longest_running_processor_seconds{name="jobs"} 3');
  expect(text()).toContain('workqueue_unfinished_work_seconds{name="jobs"} 3');
  ends.get('a')!();
  await clock.advance(0);
  ends.get('b')!();
  await queue.idle();
  queue.close();
  await running;
  expect(text()).toContain('workqueue_depth{name="jobs"} 0');
  expect(text()).toContain('workqueue_queue_duration_seconds_sum{name="jobs"} 7');
  expect(text()).toContain('workqueue_work_duration_seconds_sum{name="jobs"} 3');
  expect(text()).toContain('workqueue_work_duration_seconds_count{name="jobs"} 2');
  expect(text()).toContain('workqueue_longest_running_processor_seconds{name="jobs"} 0');
});

it('a key counts again that was added while it was processed, and one that failed', async () => {
  const { clock, queue, text } = measuredQueue();
  queue.add('a');
  let rounds = 0;
  const running = queue.run(async (key) => {
    rounds++;
    if (rounds === 1) queue.add(key);
    if (rounds === 2) queue.retry(key);
  });
  while (rounds < 3) await clock.advance(1_000);
  queue.close();
  await running;
  expect(text()).toContain('workqueue_adds_total{name="jobs"} 3');
  expect(text()).toContain('workqueue_retries_total{name="jobs"} 1');
});

it('counters continue when a controller is started again, without the keys of its last queue', () => {
  const { clock, queue, metrics, text } = measuredQueue();
  queue.add('a');
  queue.close();
  const next = new WorkQueue({ clock, random: new SeededRandom(1), observer: metrics.observe('jobs') });
  next.add('b');
  expect(text()).toContain('workqueue_depth{name="jobs"} 1');
  expect(text()).toContain('workqueue_adds_total{name="jobs"} 2');
});

function measuredQueue() {
  const clock = new ControlledClock();
  const metrics = new QueueMetrics(clock);
  const queue = new WorkQueue({ clock, random: new SeededRandom(1), observer: metrics.observe('jobs') });
  return { clock, metrics, queue, text: () => [...metrics.lines()].join('\n') };
}
