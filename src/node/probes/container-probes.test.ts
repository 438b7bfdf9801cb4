import { expect, test } from 'vitest';
import { STRICT_GUARD } from '../../base/sockets/dial/dial-guard.ts';
import { ControlledClock } from '../../base/time/clock.ts';
import { ContainerProbes, type ProbeResults } from './container-probes.ts';

/** A container whose commands succeed or fail by name. */
function probed(container: object, exits: Record<string, number>) {
  const clock = new ControlledClock();
  const ran: string[] = [];
  const events: string[] = [];
  const changes: ProbeResults[] = [];
  const startedAt = clock.now();
  const probes = new ContainerProbes({
    ...{ clock, startedAt, id: 'c1', address: '', userAgent: '' },
    ...{ isOnNodeNetwork: false, guard: STRICT_GUARD },
    container: { name: 'c', image: 'i', ...container } as never,
    runtime: {
      run: async (_, { command: [name = ''] }) => {
        ran.push(`${name} ${(clock.now() - startedAt) / 1_000}`);
        return { exitCode: exits[name] ?? 0, stdout: Buffer.from('no\n'), stderr: Buffer.alloc(0) };
      },
    },
    onChange: (results) => changes.push(results),
    onEvent: (reason, message) => events.push(`${reason} ${message}`),
  });
  return { clock, ran, events, changes, probes };
}

const exec = (name: string, fields: object = {}) => ({ exec: { command: [name] }, periodSeconds: 1, ...fields });

test('without probes, a running container is started, ready and live', () => {
  const { probes, clock } = probed({}, {});
  expect(probes.results).toEqual({ started: true, ready: true, live: true });
  expect(clock.waiting).toBe(0);
});

test('it is ready when its probe passes, and not ready again when it fails', async () => {
  const exits = { ready: 1 };
  const { probes, clock, changes, events } = probed({ readinessProbe: exec('ready', { failureThreshold: 2 }) }, exits);
  expect(probes.results).toEqual({ started: true, ready: false, live: true });
  await clock.advance(1_500);
  expect(changes).toEqual([]);
  exits.ready = 0;
  await clock.advance(1_000);
  expect(changes).toEqual([{ started: true, ready: true, live: true }]);
  exits.ready = 1;
  await clock.advance(2_000);
  expect(probes.results.ready).toBe(false);
  expect(new Set(events)).toEqual(new Set(['Unhealthy Readiness probe failed: no\n']));
});

test('the startup probe comes before the others', async () => {
  const exits = { start: 1 };
  const { probes, clock, ran } = probed(
    {
      startupProbe: exec('start', { failureThreshold: 9 }),
      livenessProbe: exec('live'),
      readinessProbe: exec('ready'),
    },
    exits,
  );
  await clock.advance(1_500);
  expect(ran).toEqual(['start 0', 'start 1']);
  expect(probes.results).toEqual({ started: undefined, ready: false, live: true });
  exits.start = 0;
  await clock.advance(1_000);
  expect(ran.slice(2)).toEqual(['start 2', 'live 2', 'ready 2']);
  expect(probes.results).toEqual({ started: true, ready: true, live: true });
});

test('a failed liveness probe ends the probing of liveness, and says its own grace period', async () => {
  const { probes, clock, ran, changes } = probed(
    { livenessProbe: exec('live', { terminationGracePeriodSeconds: 7 }) },
    { live: 1 },
  );
  await clock.advance(10_000);
  expect(ran).toEqual(['live 0', 'live 1', 'live 2']);
  expect(changes).toEqual([{ started: true, ready: true, live: false }]);
  expect(probes.failed).toEqual({ type: 'Liveness', graceSeconds: 7 });
  expect(clock.waiting).toBe(0);
});

test('a failed startup probe counts as a failed liveness probe', async () => {
  const { probes, clock } = probed({ startupProbe: exec('start', { failureThreshold: 1 }) }, { start: 1 });
  await clock.advance(0);
  expect(probes.results).toEqual({ started: false, ready: false, live: false });
  expect(probes.failed?.type).toBe('Startup');
});

test('after stop, nothing runs and nothing is reported', async () => {
  const { probes, clock, ran } = probed({ livenessProbe: exec('live') }, {});
  await clock.advance(500);
  probes.stop();
  await clock.advance(10_000);
  expect(ran).toEqual(['live 0']);
  expect(clock.waiting).toBe(0);
});
