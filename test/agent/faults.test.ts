/** Property: with any pods, faults and restarts, the final state is that of the specs. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AgentCluster, agentCluster } from '../support/agent.ts';
import type { Fault } from '../support/fake-runtime.ts';

interface GivenPod {
  readonly restartPolicy: 'Always' | 'OnFailure' | 'Never';
  readonly init: number;
  readonly sidecars: number;
  readonly main: number;
}

const pods: fc.Arbitrary<GivenPod> = fc.record({
  restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
  init: fc.nat(1),
  sidecars: fc.nat(1),
  main: fc.integer({ min: 1, max: 2 }),
});

/** Event from outside. */
type Step =
  | { readonly type: 'exit'; readonly pod: number; readonly container: number; readonly code: number }
  | { readonly type: 'kill sandbox' | 'delete'; readonly pod: number }
  | { readonly type: 'restart' | 'api down' | 'api up' }
  | { readonly type: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('exit' as const),
      ...{ pod: fc.nat(1), container: fc.nat(3), code: fc.constantFrom(0, 1, 137) },
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('kill sandbox' as const), pod: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('delete' as const), pod: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('api down' as const, 'api up' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(20, 500, 5_000, 60_000) }),
  },
);

const faults: fc.Arbitrary<readonly Fault[]> = fc.array(
  fc.constantFrom<Fault>(undefined, undefined, undefined, 'before', 'after'),
  { minLength: 1, maxLength: 12 },
);

const named = (prefix: string, count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, at) => ({ name: `${prefix}${at}`, image: 'nginx:1', ...fields }));

const specOf = ({ restartPolicy, init, sidecars, main }: GivenPod) => ({
  ...{ restartPolicy, terminationGracePeriodSeconds: 3, containers: named('c', main) },
  initContainers: [...named('i', init), ...named('s', sidecars, { restartPolicy: 'Always' })],
});

/** Exits of a container, as the test has seen them, to which a policy may respond with a restart. */
class Exits {
  readonly #codes = new Map<string, number[]>();
  add(container: string, code: number): void {
    this.#codes.set(container, [...(this.#codes.get(container) ?? []), code]);
  }
  of(container: string): readonly number[] {
    return this.#codes.get(container) ?? [];
  }
}

async function perform(cluster: AgentCluster, given: readonly GivenPod[], exits: Exits, each: Step): Promise<boolean> {
  const { runtime, clock, api } = cluster;
  switch (each.type) {
    case 'exit': {
      const running = runtime.running.filter((name) => name.startsWith(`p${each.pod}/`)).sort();
      const chosen = running[each.container % Math.max(1, running.length)];
      if (!chosen) return false;
      const [pod = '', name = ''] = chosen.split('/');
      runtime.exit(pod, name, each.code);
      exits.add(`${pod}/${name}`, each.code);
      break;
    }
    case 'kill sandbox': {
      const killed = runtime.running.filter((name) => name.startsWith(`p${each.pod}/`));
      if (killed.length === 0) return false;
      runtime.killSandboxOf(`p${each.pod}`);
      for (const name of killed) exits.add(name.split('/').slice(0, 2).join('/'), 137);
      return true;
    }
    case 'delete':
      if (given[each.pod]) await cluster.delete(`p${each.pod}`).catch(() => undefined);
      break;
    case 'restart':
      api.isDown = false;
      await cluster.restart();
      break;
    case 'api down':
    case 'api up':
      api.isDown = each.type === 'api down';
      break;
    case 'wait':
      await clock.advance(each.ms);
      break;
  }
  return false;
}

/** Returns the maximum number of starts of a container. Init containers start again in every sandbox. */
function mostStarts({ restartPolicy }: GivenPod, name: string, codes: readonly number[], sandboxes: number): number {
  if (name.startsWith('s')) return 1 + codes.length;
  const restarted = restartPolicy === 'Never' ? [] : codes.filter((code) => code !== 0 || restartPolicy === 'Always');
  return (name.startsWith('i') ? sandboxes : 1) + restarted.length;
}

test('pods end as their specs say, and containers start no more often than their policy allows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(pods, { minLength: 1, maxLength: 2 }),
      fc.array(step, { maxLength: 25 }),
      faults,
      async (given, steps, planned) => {
        const cluster = await agentCluster();
        const { runtime, api } = cluster;
        try {
          let calls = 0;
          runtime.fault = () => planned[calls++ % planned.length];
          for (const [at, pod] of given.entries()) await cluster.run(`p${at}`, { spec: specOf(pod) });
          const exits = new Exits();
          const sandboxes = new Map<string, number>();
          const deleted = new Set<number>();
          for (const each of steps) {
            if (each.type === 'delete') deleted.add(each.pod);
            const isKilled = await perform(cluster, given, exits, each);
            if (isKilled && 'pod' in each) sandboxes.set(`p${each.pod}`, (sandboxes.get(`p${each.pod}`) ?? 1) + 1);
          }
          // Nothing fails from here on: init containers finish, everything else runs.
          runtime.fault = undefined;
          api.isDown = false;
          await eventually(cluster, async () => {
            expect(runtime.doubles).toEqual([]);
            for (const [at, pod] of given.entries()) {
              const name = `p${at}`;
              const found = await cluster.pod(name).catch(() => undefined);
              const started = runtime.started.filter((each) => each.startsWith(`${name}/`));
              for (const container of new Set(started.map((each) => each.split('/')[1]!))) {
                const count = started.filter((each) => each.split('/')[1] === container).length;
                const most = mostStarts(pod, container, exits.of(`${name}/${container}`), sandboxes.get(name) ?? 1);
                expect(count, `starts of ${name}/${container}`).toBeLessThanOrEqual(most);
              }
              if (deleted.has(at)) {
                expect(found, name).toBeUndefined();
                expect(runtime.pods).not.toContain(name);
                continue;
              }
              const running = runtime.running.filter((each) => each.startsWith(`${name}/`));
              const { phase } = found.status;
              if (phase === 'Running') expect(running.length, `${name} runs`).toBeGreaterThan(0);
              else {
                expect(['Succeeded', 'Failed'], name).toContain(phase);
                expect(running, `${name} has ended`).toEqual([]);
              }
              if (pod.restartPolicy === 'Always') {
                expect(phase).toBe('Running');
                expect(running).toHaveLength(pod.main + pod.sidecars);
                expect(found.status.containerStatuses.every(({ ready }: any) => ready)).toBe(true);
              }
            }
          });
        } finally {
          await cluster.stop();
        }
      },
    ),
    { numRuns: 20, endOnFailure: true },
  );
}, 600_000);

/** Files are really read, so that no number of turns of the event loop is known to be enough. */
const MAX_ROUNDS = 2_000;

/** Moves time on until the check passes, and lets init containers end. */
async function eventually({ runtime, clock }: AgentCluster, check: () => Promise<void>): Promise<void> {
  let failure: unknown;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await clock.advance(round < 20 ? 30_000 : 1_000);
    for (const name of runtime.running) if (name.includes('/i')) runtime.exit(...pathOf(name), 0);
    try {
      await check();
      return;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function pathOf(running: string): [pod: string, name: string] {
  const [pod = '', name = ''] = running.split('/');
  return [pod, name];
}
