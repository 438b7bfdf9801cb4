import { afterEach, expect, it } from 'vitest';
import { askHttp1 } from '../../../../test/support/http-client.ts';
import { type RunningServer, startServer, startWithFrontThread, TOKEN } from '../../../../test/support/http-server.ts';
import { Watchdog } from '../../../base/event-loop/watchdog.ts';
import { withResolvers } from '../../../base/event-loop/with-resolvers.ts';
import { type LogFields, silent } from '../../../base/log.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { type Blockage, EventLoopMetrics } from '../metrics/event-loop.ts';

let running: RunningServer;
afterEach(() => running.server.close());

const PODS = '/api/v1/namespaces/default/pods';
const ask = (path: string, body = '{}') =>
  askHttp1({
    ...{ path, method: 'POST', body },
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...{ port: running.port, ca: running.authority.ca },
  });

it('a request that blocks the event loop is logged and counted', async () => {
  let time = 0;
  const logged: [string, LogFields | undefined][] = [];
  const eventLoops = new EventLoopMetrics({ ...silent, warn: (message, fields) => logged.push([message, fields]) });
  const monitor = new Watchdog({
    clock: { now: () => 0, monotonic: () => time },
    onBlocked: (work, milliseconds) =>
      eventLoops.add({ thread: 'api', work: work.work, milliseconds, fields: work.describe() }),
  });
  running = await startServer({ monitor });
  const { core } = running;
  core.answer = (call) => {
    time += 1_500;
    return core.ordinary(call);
  };
  await ask(`${PODS}?dryRun=All`);
  expect(logged).toEqual([
    [
      'the event loop was blocked',
      {
        ...{ thread: 'api', work: 'request', milliseconds: 1_500, verb: 'create', resource: 'pods' },
        ...{ namespace: 'default', method: 'POST', url: `${PODS}?dryRun=All`, user: 'alice' },
      },
    ],
  ]);
  expect([...eventLoops.lines()]).toContain(
    'quarterdeck_event_loop_blocked_seconds_bucket{thread="api",work="request",le="2"} 1',
  );
});

it('work that blocks the thread of the sockets is logged and counted', async () => {
  let time = 0;
  const { promise: blocked, resolve: onBlocked } = withResolvers<Blockage>();
  const clock = { ...systemClock, monotonic: () => (time += 300) };
  running = await startWithFrontThread({ clock, onBlocked });
  await ask(PODS);
  expect(await blocked).toMatchObject({ thread: 'sockets', work: expect.stringMatching(/^(receive|send)$/) });
});

it('other requests are served between decoding a large body, looking for duplicate fields, and handling it', async () => {
  const steps: string[] = [];
  const monitor = {
    begin() {
      steps.push('work');
      setImmediate(() => steps.push('turn'));
    },
  };
  running = await startServer({ monitor });
  const { core } = running;
  core.answer = (call) => {
    steps.push('handle');
    return core.ordinary(call);
  };
  const between = async (body: string) => {
    steps.length = 0;
    expect((await ask(PODS, body)).code).toBe(200);
    // Steps after the arrival of the body, which begins the second piece of work.
    const arrived = steps.indexOf('work', 1);
    return steps.slice(arrived + 1, steps.indexOf('handle')).filter((step) => step === 'turn').length;
  };
  expect(await between('{}')).toBe(0);
  expect(await between(`{"x":"${'y'.repeat(1_000_000)}"}`)).toBeGreaterThanOrEqual(2);
});
