import { expect, test } from 'vitest';
import { ControlledClock } from '../../../base/time/clock.ts';
import { DEFAULT_STAGES } from '../rules/rules.ts';
import { type LogRequest, logLines, logRun } from './logs.ts';
import { newPodLife, type PodLife } from './pod-life.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();

/** A pod whose container writes a line every ten seconds. */
function lifeWith(status: object): PodLife {
  const containerStatuses = [
    { name: 'c', image: 'x', imageID: 'x', ready: true, restartCount: 0, lastState: {}, ...status },
  ];
  const pod: any = {
    metadata: { name: 'a', namespace: 'x', uid: 'u' },
    spec: { restartPolicy: 'Always', containers: [{ name: 'c', image: 'x' }] },
    status: { phase: 'Running', podIP: '10.0.0.2', startTime: at(0), containerStatuses },
  };
  const stages = { ...DEFAULT_STAGES, logs: { every: 10_000, lines: ['odd {n} of {pod}', 'even {n}'] } };
  return newPodLife({ pod, stages, now: START, sandboxTakes: 0 });
}

const request = (asked: Partial<LogRequest> = {}): LogRequest => ({
  ...{ node: 'n', namespace: 'x', pod: 'a', container: 'c', follow: false, previous: false, timestamps: false },
  ...{ since: undefined, tailLines: undefined, limitBytes: undefined, signal: undefined, ...asked },
});

async function read(life: PodLife, seconds: number, asked: Partial<LogRequest> = {}): Promise<string> {
  const clock = new ControlledClock(START + seconds * 1_000);
  let text = '';
  const wanted = request(asked);
  for await (const piece of logLines({ clock, life, run: logRun(life, wanted) }, wanted)) text += piece.toString();
  return text;
}

const running = { state: { running: { startedAt: at(0) } }, containerID: 'simulated://1' };
const ended = { terminated: { exitCode: 1, startedAt: at(0), finishedAt: at(25), containerID: 'simulated://0' } };

test('a log has a line for every ten seconds', async () => {
  expect(await read(lifeWith(running), 25)).toBe('odd 1 of a\neven 2\nodd 3 of a\n');
});

test.each([
  [{ tailLines: 1 }, 'odd 3 of a\n'],
  [{ tailLines: 0 }, ''],
  [{ since: START + 5_000 }, 'even 2\nodd 3 of a\n'],
  [{ since: START + 500_000 }, ''],
  [{ since: START + 500_000, tailLines: 2 }, ''],
  [{ limitBytes: 13 }, 'odd 1 of a\nev'],
  [{ tailLines: 1, timestamps: true }, '2030-01-01T00:00:20.000000000Z odd 3 of a\n'],
])('%j', async (asked, expected) => {
  expect(await read(lifeWith(running), 25, asked)).toBe(expected);
});

test('a container that has ended writes nothing more, and the one before has a log of its own', async () => {
  expect(await read(lifeWith({ state: ended }), 500)).toBe('odd 1 of a\neven 2\nodd 3 of a\n');
  const again = lifeWith({ state: { running: { startedAt: at(40) } }, lastState: ended, containerID: 'simulated://2' });
  expect(await read(again, 55)).toBe('odd 1 of a\neven 2\n');
  expect(await read(again, 55, { previous: true })).toBe('odd 1 of a\neven 2\nodd 3 of a\n');
});

test('the end of a log of years is read at once', async () => {
  expect(await read(lifeWith(running), 10 * 31_536_000, { tailLines: 1 })).toBe('odd 31536001 of a\n');
});

test('a follower gets lines as they are written, until the container ends', async () => {
  const life = lifeWith(running);
  const clock = new ControlledClock(START);
  const wanted = request({ follow: true });
  const got: string[] = [];
  const following = (async () => {
    for await (const piece of logLines({ clock, life, run: logRun(life, wanted) }, wanted)) got.push(piece.toString());
  })();
  await clock.advance(0);
  expect(got).toEqual(['odd 1 of a\n']);
  await clock.advance(10_000);
  expect(got).toEqual(['odd 1 of a\n', 'even 2\n']);
  const run = life.runs[0]!;
  run.state = {
    type: 'ended',
    exitCode: 0,
    reason: 'Completed',
    startedAt: START,
    finishedAt: START + 11_000,
    id: 'simulated://1',
  };
  await clock.advance(2_000);
  await following;
  expect(got).toHaveLength(2);
});

test('an aborted follower ends at once', async () => {
  const leave = new AbortController();
  const wanted = request({ follow: true, signal: leave.signal });
  const life = lifeWith(running);
  const clock = new ControlledClock(START);
  const lines = logLines({ clock, life, run: logRun(life, wanted) }, wanted);
  await lines.next();
  const next = lines.next();
  leave.abort();
  expect((await next).done).toBe(true);
  expect(clock.waiting).toBe(0);
});

test.each([
  [{ state: { waiting: { reason: 'ContainerCreating' } } }, {}, 'is waiting to start: ContainerCreating'],
  [{ state: { waiting: { reason: 'ImagePullBackOff' } } }, {}, 'is waiting to start: trying and failing to pull image'],
  [running, { previous: true }, 'previous terminated container "c" in pod "a" not found'],
  [running, { container: 'd' }, 'container "d" in pod "a" is not available'],
])('%j has no log with %j', (status, asked, message) => {
  expect(() => logRun(lifeWith(status), request(asked))).toThrow(message);
});
