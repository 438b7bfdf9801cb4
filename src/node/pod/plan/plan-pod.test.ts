import { expect, test } from 'vitest';
import { podStatus } from '../pod-status.ts';
import type { Action } from './action.ts';
import { adoptPod, alignContainers } from './adopt.ts';
import { planPod } from './plan-pod.ts';
import { begin, finish, observe } from './record.ts';
import { podReport } from './report.ts';
import { sizeOf } from './resize.ts';
import type { ContainerRecord, PodState } from './state.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const METADATA = { name: 'p', namespace: 'x', uid: 'u' };
const SANDBOX = { id: 's0', attempt: 0, isReady: true, createdAt: NOW, addresses: ['10.0.0.2'] };

const stateOf = (state: PodState, name: string) => state.containers.find((each) => each.name === name)!;

const podOf = (spec: object = {}, metadata: object = {}): any => ({
  metadata: { ...METADATA, ...metadata },
  spec: {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    containers: [{ name: 'a', image: 'i:1' }],
    ...spec,
  },
  status: {},
});

const record = (name: string, more: Partial<ContainerRecord> = {}): ContainerRecord => ({
  ...{ id: `${name}0`, statusId: `m://${name}0`, sandboxId: 's0', name, attempt: 0, state: 'running', startedAt: NOW },
  ...{
    finishedAt: undefined,
    exitCode: undefined,
    reason: undefined,
    message: undefined,
    image: 'i:1',
    imageId: 'sha256:1',
  },
  ...more,
});

const ended = (name: string, exitCode: number, more: Partial<ContainerRecord> = {}) =>
  record(name, { state: 'exited', exitCode, finishedAt: NOW, ...more });

/** A pod whose volumes are prepared, and which has a sandbox and these containers. */
function stateWith(pod: any, containers: ContainerRecord[], sandboxes = [SANDBOX]): PodState {
  const state = adoptPod(pod, { sandboxes, containers }, NOW);
  state.volumes = { type: 'done' };
  return state;
}

/** What is planned, in short. */
const short = (action: Action) => {
  const [subject] = [action].flatMap((each) =>
    'container' in each ? [each.container] : 'id' in each ? [each.id] : [],
  );
  const grace = action.type === 'stop-container' ? ` ${action.graceSeconds}` : '';
  return `${action.type}${subject ? ` ${subject}` : ''}${'attempt' in action ? `#${action.attempt}` : ''}${grace}`;
};
const planned = (pod: any, state: PodState, now = NOW) => planPod(pod, state, now).actions.map(short);

/** Performs what is planned for that container until it is to be started: its image is there at once. */
function withImages(pod: any, state: PodState, now = NOW): PodState {
  const plan = planPod(pod, state, now);
  begin(state, { ...plan, actions: plan.actions.filter(({ type }) => type === 'pull-image') }, now);
  for (const action of plan.actions) {
    if (action.type === 'pull-image') finish(state, action, { type: 'done', imageId: 'sha256:1' }, now);
  }
  return state;
}

const statusOf = (pod: any, state: PodState, now = NOW): any =>
  podStatus({ ...podReport(pod, state, now), hostIP: 'h' }, []);
const shown = (pod: any, state: PodState, now = NOW) => statusOf(pod, state, now).containerStatuses[0].state;
const events = (pod: any, state: PodState, now = NOW) =>
  planPod(pod, state, now).events.map(({ type, reason, message }) => `${type} ${reason}: ${message}`);

const initPod = (more: object = {}) =>
  podOf({
    initContainers: [
      { name: 'i', image: 'i:1' },
      { name: 's', image: 'i:1', restartPolicy: 'Always', startupProbe: {} },
      { name: 'j', image: 'i:1' },
    ],
    ...more,
  });

test('volumes come before the sandbox, and the sandbox before containers', () => {
  const pod = podOf();
  const state = adoptPod(pod, { sandboxes: [], containers: [] }, NOW);
  expect(planned(pod, state)).toEqual(['prepare-volumes']);
  begin(state, planPod(pod, state, NOW), NOW);
  expect(planned(pod, state)).toEqual([]);
  finish(state, { type: 'prepare-volumes' }, { type: 'failed', reason: '', message: 'no' }, NOW);
  expect(planned(pod, state)).toEqual([]);
  expect(planPod(pod, state, NOW).nextAt).toBe(NOW + 500);
  expect(planned(pod, state, NOW + 500)).toEqual(['prepare-volumes']);
  finish(state, { type: 'prepare-volumes' }, { type: 'done' }, NOW);
  expect(planned(pod, state)).toEqual(['run-sandbox#0']);
  begin(state, planPod(pod, state, NOW), NOW);
  finish(state, { type: 'run-sandbox', attempt: 0, size: sizeOf(pod) }, { type: 'done' }, NOW);
  // Until the runtime was listed again.
  expect(planned(pod, state)).toEqual([]);
  expect(observe(state, { revision: 0, sandboxes: [], containers: [] }, NOW)).toBe(false);
  expect(observe(state, { revision: state.revision, sandboxes: [SANDBOX], containers: [] }, NOW)).toBe(true);
  expect(planned(pod, state)).toEqual(['pull-image a']);
  expect(planned(pod, withImages(pod, state))).toEqual(['start-container a#0']);
});

test.each<[string, ContainerRecord[], string[]]>([
  ['nothing has run', [], ['start-container i#0']],
  ['the first one runs', [record('i')], []],
  ['it has failed', [ended('i', 1)], ['start-container i#1']],
  ['it has succeeded', [ended('i', 0)], ['start-container s#0']],
  ['the sidecar runs, and its startup probe has not passed', [ended('i', 0), record('s')], []],
  ['the last one has succeeded', [ended('i', 0), record('s'), ended('j', 0)], ['start-container a#0']],
  ['a sidecar has died after it', [ended('i', 0), ended('s', 1), record('j')], ['start-container s#1']],
  ['the record of the first one is gone', [record('s'), record('j')], []],
  ['main containers run', [record('s'), record('a')], []],
])('init containers run in order: %s', (_, records, expected) => {
  const pod = initPod();
  expect(planned(pod, withImages(pod, stateWith(pod, records)))).toEqual(expected);
});

test('a sidecar lets the next container start when its startup probe has passed, and is restarted when it failed', () => {
  const pod = initPod();
  const state = stateWith(pod, [ended('i', 0), record('s')]);
  stateOf(state, 's').started = true;
  expect(planned(pod, state)).toEqual(['pull-image j']);
  stateOf(state, 's').started = false;
  expect(planned(pod, state)).toEqual(['stop-container s 30']);
  expect(events(pod, state)).toEqual(['Normal Killing: Init container s failed startup probe']);
});

test.each<[string, object, number, string]>([
  ['Always', {}, 0, 'Running'],
  ['OnFailure', {}, 0, 'Succeeded'],
  ['OnFailure', {}, 1, 'Running'],
  ['Never', {}, 0, 'Succeeded'],
  ['Never', {}, 1, 'Failed'],
  ['Never', { restartPolicy: 'Always' }, 1, 'Running'],
  ['Always', { restartPolicy: 'Never' }, 1, 'Failed'],
  [
    'Never',
    {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
    },
    42,
    'Running',
  ],
  [
    'Never',
    {
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
    },
    1,
    'Failed',
  ],
])('restart policy %s, container %j, exit code %i: %s', (restartPolicy, container, exitCode, phase) => {
  const pod = podOf({ restartPolicy, containers: [{ name: 'a', image: 'i:1', ...container }] });
  const state = stateWith(pod, [ended('a', exitCode)]);
  const isAgain = phase === 'Running';
  expect(planned(pod, state)).toEqual(isAgain ? ['pull-image a'] : ['stop-sandbox s0']);
  begin(state, planPod(pod, state, NOW), NOW);
  expect(statusOf(pod, state).phase).toBe(phase);
});

test('restarts are delayed by 10 seconds, doubled to 5 minutes, and at once after 10 minutes of running', () => {
  const pod = podOf();
  const delays = [0, 1, 2, 3, 5, 6, 9].map((attempt) => {
    const state = stateWith(pod, [ended('a', 1, { attempt })]);
    return (planPod(pod, state, NOW).nextAt ?? NOW) - NOW;
  });
  expect(delays).toEqual([0, 10_000, 20_000, 40_000, 160_000, 300_000, 300_000]);
  const long = stateWith(pod, [ended('a', 1, { attempt: 7, startedAt: NOW - 600_000 })]);
  expect(planned(pod, long)).toEqual(['pull-image a']);
});

test('a container that waits for its restart says so, with one event', () => {
  const pod = podOf();
  const state = stateWith(pod, [ended('a', 1, { attempt: 2 })]);
  const { waiting } = shown(pod, state);
  expect(waiting).toEqual({
    reason: 'CrashLoopBackOff',
    message: 'back-off 20s restarting failed container=a pod=p_x(u)',
  });
  expect(statusOf(pod, state).containerStatuses[0].lastState.terminated.exitCode).toBe(1);
  expect(events(pod, state)).toEqual(['Warning BackOff: Back-off restarting failed container a in pod p_x(u)']);
  begin(state, planPod(pod, state, NOW), NOW);
  expect(events(pod, state, NOW + 1)).toEqual([]);
});

test.each<[string, string | undefined, number]>([
  ['ErrImagePull', 'ImagePullBackOff', 11_000],
  ['RegistryUnavailable', 'ImagePullBackOff', 11_000],
  ['ErrImageNeverPull', 'ErrImageNeverPull', 10_000],
  ['InvalidImageName', 'InvalidImageName', 10_000],
])('an image that cannot be had: %s', (reason, later, retryMs) => {
  const pod = podOf();
  const state = stateWith(pod, []);
  begin(state, planPod(pod, state, NOW), NOW);
  finish(
    state,
    { type: 'pull-image', container: 'a', position: 0, image: 'i:1' },
    { type: 'failed', reason, message: 'why' },
    NOW,
  );
  expect(shown(pod, state).waiting).toEqual({ reason, message: 'why' });
  expect(shown(pod, state, NOW + 1_000).waiting.reason).toBe(later);
  const expected = ['Normal BackOff: Back-off pulling image "i:1"', 'Warning Failed: Error: ImagePullBackOff'];
  expect(events(pod, state, NOW + 1_000)).toEqual(later === 'ImagePullBackOff' ? expected : []);
  expect(planned(pod, state, NOW + retryMs - 1)).toEqual([]);
  expect(planned(pod, state, NOW + retryMs)).toEqual(['pull-image a']);
  // Another image is looked for at once.
  const changed = podOf({ containers: [{ name: 'a', image: 'i:2' }] });
  expect(planned(changed, state, NOW + 1)).toEqual(['pull-image a']);
});

test.each(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError'])(
  'a start that fails: %s',
  (reason) => {
    const pod = podOf();
    const state = withImages(pod, stateWith(pod, []));
    const plan = planPod(pod, state, NOW);
    begin(state, plan, NOW);
    finish(state, plan.actions[0]!, { type: 'failed', reason, message: 'why' }, NOW);
    expect(shown(pod, state).waiting).toEqual({ reason, message: 'why' });
    expect(planned(pod, state, NOW + 9_999)).toEqual([]);
    expect(planned(pod, state, NOW + 10_000)).toEqual(['pull-image a']);
  },
);

test('a start whose container ended at once is a crash', () => {
  const pod = podOf();
  const state = withImages(pod, stateWith(pod, []));
  const plan = planPod(pod, state, NOW);
  begin(state, plan, NOW);
  finish(state, plan.actions[0]!, { type: 'failed', reason: 'RunContainerError', message: 'no such file' }, NOW);
  const dead = ended('a', 128, { reason: 'StartError' });
  observe(state, { revision: state.revision, sandboxes: [SANDBOX], containers: [dead] }, NOW);
  expect(shown(pod, state).waiting.reason).toBe('RunContainerError');
  const { lastState } = statusOf(pod, state).containerStatuses[0];
  expect(lastState.terminated).toMatchObject({ exitCode: 128, reason: 'StartError' });
  expect(planned(pod, state, NOW + 1_000)).toEqual(['pull-image a']);
});

test.each<[string, object, (state: PodState) => void, string[], string]>([
  [
    'liveness',
    { livenessProbe: {} },
    (state) => (stateOf(state, 'a').live = false),
    ['stop-container a 30'],
    'Container a failed liveness probe, will be restarted',
  ],
  [
    'its own grace period',
    { livenessProbe: { terminationGracePeriodSeconds: 5 } },
    (state) => (stateOf(state, 'a').live = false),
    ['stop-container a 5'],
    'Container a failed liveness probe, will be restarted',
  ],
  [
    'startup',
    { startupProbe: {} },
    (state) => (stateOf(state, 'a').started = false),
    ['stop-container a 30'],
    'Container a failed startup probe, will be restarted',
  ],
  ['image', { image: 'i:2' }, () => {}, ['stop-container a 30'], 'Container a definition changed, will be restarted'],
])('a container is stopped and restarted: %s', (_, container, change, expected, message) => {
  const pod = podOf({ containers: [{ name: 'a', image: 'i:1', ...container }] });
  const state = stateWith(pod, [record('a')]);
  change(state);
  expect(planned(pod, state)).toEqual(expected);
  expect(events(pod, state)).toEqual([`Normal Killing: ${message}`]);
  begin(state, planPod(pod, state, NOW), NOW);
  expect(planned(pod, state, NOW + 1)).toEqual([]);
  observe(state, { revision: state.revision, sandboxes: [SANDBOX], containers: [ended('a', 137)] }, NOW);
  expect(planned(pod, state, NOW + 2)).toEqual(['pull-image a']);
});

test('a changed image restarts a container whatever its policy, but not one that has ended', () => {
  const pod = podOf({ restartPolicy: 'Never', containers: [{ name: 'a', image: 'i:2' }] });
  const state = stateWith(pod, [record('a')]);
  begin(state, planPod(pod, state, NOW), NOW);
  observe(state, { revision: state.revision, sandboxes: [SANDBOX], containers: [ended('a', 143)] }, NOW);
  expect(planned(pod, state)).toEqual(['pull-image a']);
  expect(planned(pod, stateWith(pod, [ended('a', 0)]))).toEqual(['stop-sandbox s0']);
});

test('a sandbox that died is stopped and followed by another, in which init containers run again', () => {
  const pod = podOf({ initContainers: [{ name: 'i', image: 'i:1' }] });
  const dead = { ...SANDBOX, isReady: false };
  const state = stateWith(pod, [ended('i', 0), record('a')], [dead]);
  expect(planned(pod, state)).toEqual(['stop-container a 30']);
  observe(state, { revision: 0, sandboxes: [dead], containers: [ended('i', 0), ended('a', 137)] }, NOW);
  expect(planned(pod, state)).toEqual(['stop-sandbox s0']);
  expect(events(pod, state)).toEqual(['Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created.']);
  begin(state, planPod(pod, state, NOW), NOW);
  finish(state, { type: 'stop-sandbox', id: 's0' }, { type: 'done' }, NOW);
  expect(planned(pod, state)).toEqual(['run-sandbox#1']);
  const next = { ...SANDBOX, id: 's1', attempt: 1 };
  const containers = [ended('i', 0), ended('a', 137)];
  observe(state, { revision: state.revision, sandboxes: [dead, next], containers }, NOW);
  expect(planned(pod, withImages(pod, state))).toEqual(['start-container i#1']);
  expect(statusOf(pod, state).phase).toBe('Running');
});

test('a pod with the policy Never gets no other sandbox when its containers died with it', () => {
  const pod = podOf({ restartPolicy: 'Never' });
  const dead = { ...SANDBOX, isReady: false };
  const state = stateWith(pod, [ended('a', 137)], [dead]);
  expect(planned(pod, state)).toEqual(['stop-sandbox s0']);
  begin(state, planPod(pod, state, NOW), NOW);
  expect(statusOf(pod, state).phase).toBe('Failed');
});

test('a pod ends at its deadline', () => {
  const pod = podOf({ activeDeadlineSeconds: 60 });
  const state = stateWith(pod, [record('a')]);
  expect(planPod(pod, state, NOW).nextAt).toBe(NOW + 60_000);
  const later = NOW + 60_000;
  expect(planned(pod, state, later)).toEqual(['stop-container a 30']);
  begin(state, planPod(pod, state, later), later);
  expect(statusOf(pod, state, later).phase).toBe('Running');
  observe(state, { revision: 0, sandboxes: [SANDBOX], containers: [ended('a', 143)] }, later);
  expect(planned(pod, state, later)).toEqual(['stop-sandbox s0']);
  begin(state, planPod(pod, state, later), later);
  expect(statusOf(pod, state, later)).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
});

test('a rejected pod starts nothing and shows no containers', () => {
  const pod = podOf();
  const state = adoptPod(pod, { sandboxes: [], containers: [] }, NOW);
  state.failure = { reason: 'OutOfcpu', message: 'Node did not have enough resource: cpu', isRejection: true };
  expect(planned(pod, state)).toEqual(['release-volumes']);
  begin(state, planPod(pod, state, NOW), NOW);
  expect(statusOf(pod, state)).toMatchObject({ phase: 'Failed', reason: 'OutOfcpu', containerStatuses: [] });
});

const deleted = (graceSeconds: number) => ({
  deletionTimestamp: new Date(NOW + graceSeconds * 1_000).toISOString(),
  deletionGracePeriodSeconds: graceSeconds,
});

test('a deleted pod stops its main containers, then its sidecars in reverse order, in one grace period', () => {
  const sidecar = (name: string) => ({ name, image: 'i:1', restartPolicy: 'Always' });
  const pod = podOf({ initContainers: [sidecar('s'), sidecar('t')] }, deleted(30));
  const state = stateWith(pod, [record('a'), record('s'), record('t')]);
  const step = (containers: ContainerRecord[], now: number) => {
    begin(state, planPod(pod, state, now), now);
    observe(state, { revision: state.revision, sandboxes: [SANDBOX], containers }, now);
  };
  expect(planned(pod, state)).toEqual(['stop-container a 30']);
  expect(events(pod, state)).toEqual(['Normal Killing: Stopping container a']);
  step([ended('a', 0), record('s'), record('t')], NOW);
  expect(planned(pod, state, NOW + 10_000)).toEqual(['stop-container t 20']);
  step([ended('a', 0), record('s'), ended('t', 0)], NOW + 10_000);
  expect(planned(pod, state, NOW + 25_000)).toEqual(['stop-container s 5']);
  step([ended('a', 0), ended('s', 0), ended('t', 0)], NOW + 25_000);
  expect(planned(pod, state, NOW + 26_000)).toEqual(['stop-sandbox s0']);
});

test('the hooks of sidecars run at once, and they are asked to stop when it is their turn and their hook has ended', () => {
  const sidecar = {
    name: 's',
    image: 'i:1',
    restartPolicy: 'Always',
    lifecycle: { preStop: { sleep: { seconds: 5 } } },
  };
  const pod = podOf({ initContainers: [sidecar, { ...sidecar, name: 't' }] }, deleted(30));
  const state = stateWith(pod, [record('a'), record('s'), record('t')]);
  const step = (containers: ContainerRecord[], now: number) => {
    const plan = planPod(pod, state, now);
    begin(state, plan, now);
    observe(state, { revision: state.revision, sandboxes: [SANDBOX], containers }, now);
    return plan.actions;
  };
  const all = [record('a'), record('s'), record('t')];
  expect(planned(pod, state)).toEqual(['stop-container a 30', 'pre-stop t', 'pre-stop s']);
  expect(events(pod, state)).toEqual(['a', 't', 's'].map((name) => `Normal Killing: Stopping container ${name}`));
  const [, ofT, ofS] = step(all, NOW);
  expect(planned(pod, state, NOW + 1_000)).toEqual([]);
  finish(state, ofS!, { type: 'done' }, NOW + 1_000);
  expect(planned(pod, state, NOW + 1_000)).toEqual([]);
  // The main container ends before the hook of the sidecar whose turn it is.
  step([ended('a', 0), record('s'), record('t')], NOW + 2_000);
  expect(planned(pod, state, NOW + 2_000)).toEqual([]);
  finish(state, ofT!, { type: 'done' }, NOW + 5_000);
  expect(planned(pod, state, NOW + 5_000)).toEqual(['stop-container t 25']);
  expect(planPod(pod, state, NOW + 5_000).actions).toMatchObject([{ isHookDone: true }]);
  expect(events(pod, state, NOW + 5_000)).toEqual([]);
  step([ended('a', 0), record('s'), ended('t', 0)], NOW + 5_000);
  expect(planned(pod, state, NOW + 6_000)).toEqual(['stop-container s 24']);
});

test('a hook of a sidecar that does not end is cut off with the grace period', () => {
  const lifecycle = { preStop: { sleep: { seconds: 50 } } };
  const pod = podOf({ initContainers: [{ name: 's', image: 'i:1', restartPolicy: 'Always', lifecycle }] }, deleted(10));
  const state = stateWith(pod, [ended('a', 0), record('s')]);
  expect(planned(pod, state)).toEqual(['pre-stop s']);
  begin(state, planPod(pod, state, NOW), NOW);
  expect(planPod(pod, state, NOW + 1).nextAt).toBe(NOW + 10_000);
  expect(planned(pod, state, NOW + 10_000)).toEqual(['stop-container s 0']);
});

test('at the end of the grace period everything is killed', () => {
  const pod = podOf({ initContainers: [{ name: 's', image: 'i:1', restartPolicy: 'Always' }] }, deleted(10));
  const state = stateWith(pod, [record('a'), record('s')]);
  begin(state, planPod(pod, state, NOW), NOW);
  expect(planPod(pod, state, NOW + 1).nextAt).toBe(NOW + 10_000);
  expect(planned(pod, state, NOW + 10_000)).toEqual(['stop-container s 0']);
});

test('a grace period of zero kills at once, and a second deletion shortens one', () => {
  expect(planned(podOf({}, deleted(0)), stateWith(podOf(), [record('a')]))).toEqual(['stop-container a 0']);
  const pod = podOf({}, deleted(30));
  const state = stateWith(pod, [record('a')]);
  begin(state, planPod(pod, state, NOW), NOW);
  expect(planned(pod, state, NOW + 2_000)).toEqual([]);
  expect(planned(podOf({}, deleted(1)), state, NOW + 2_000)).toEqual(['stop-container a 0']);
});

test('of a deleted pod everything is removed, and what fails is tried again', () => {
  const pod = podOf({}, deleted(30));
  const state = stateWith(pod, [ended('a', 0)]);
  const seen: string[] = [];
  for (let now = NOW; !planPod(pod, state, now).isFinished; now += 1_000) {
    const plan = planPod(pod, state, now);
    begin(state, plan, now);
    for (const action of plan.actions) {
      const isFirst = !seen.includes(short(action));
      seen.push(short(action));
      finish(state, action, isFirst ? { type: 'failed', reason: '', message: '' } : { type: 'done' }, now);
    }
    expect(seen.length).toBeLessThan(10);
  }
  expect(seen).toEqual(
    ['stop-sandbox s0', 'release-volumes', 'remove-sandbox s0', 'clean-up'].flatMap((each) => [each, each]),
  );
  expect(statusOf(pod, state).containerStatuses[0].state.terminated.exitCode).toBe(0);
});

test('an ended pod keeps its records, and an ephemeral container cannot start in it', () => {
  const pod = podOf({ restartPolicy: 'Never', ephemeralContainers: [{ name: 'e', image: 'i:1' }] });
  const state = stateWith(pod, [ended('a', 0)], [{ ...SANDBOX, isReady: false }]);
  expect(planned(pod, state)).toEqual(['stop-sandbox s0']);
  begin(state, planPod(pod, state, NOW), NOW);
  finish(state, { type: 'stop-sandbox', id: 's0' }, { type: 'done' }, NOW);
  expect(planned(pod, state)).toEqual(['release-volumes']);
  finish(state, { type: 'release-volumes' }, { type: 'done' }, NOW);
  expect(planPod(pod, state, NOW)).toMatchObject({ actions: [], isFinished: false, nextAt: undefined });
});

test('ephemeral containers are added while a pod runs, and never restarted', () => {
  const before = initPod();
  const pod = initPod({ ephemeralContainers: [{ name: 'e', image: 'i:1' }] });
  const state = stateWith(before, [record('i')]);
  alignContainers(state, pod, NOW);
  expect(planned(pod, state)).toEqual(['pull-image e']);
  observe(state, { revision: 0, sandboxes: [SANDBOX], containers: [record('i'), ended('e', 1)] }, NOW);
  expect(planned(pod, state)).toEqual([]);
});

test('a container that was created and never started is removed, and started with the same number', () => {
  const pod = podOf();
  const state = stateWith(pod, [record('a', { state: 'created', attempt: 0 })]);
  expect(planned(pod, state)).toEqual(['remove-container a']);
  begin(state, planPod(pod, state, NOW), NOW);
  finish(state, { type: 'remove-container', container: 'a', position: 0, id: 'a0' }, { type: 'done' }, NOW);
  expect(planned(pod, withImages(pod, state))).toEqual(['start-container a#0']);
});

test('the newest two attempts are kept', () => {
  const attempts = [0, 1, 2, 3].map((attempt) => ended('a', 1, { attempt, id: `a${attempt}` }));
  const pod = podOf();
  const plan = planPod(pod, stateWith(pod, [...attempts, record('a', { attempt: 4, id: 'a4' })]), NOW);
  expect(plan.actions.map((action) => 'id' in action && action.id)).toEqual(['a2', 'a1', 'a0']);
});

test('resources are updated in place, or by a restart where the policy says so', () => {
  const resources = { requests: { cpu: '1', memory: '1Gi' } };
  const resized = { requests: { cpu: '2', memory: '1Gi' } };
  const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
  const plain = podOf({ containers: [{ name: 'a', image: 'i:1', resources: resized }] });
  const restarting = podOf({ containers: [{ name: 'a', image: 'i:1', resources: resized, resizePolicy }] });
  const state = () => {
    const out = stateWith(plain, [record('a')]);
    stateOf(out, 'a').applied = { own: resources, ofPod: undefined };
    return out;
  };
  const small = state();
  small.size = { ...small.size, cgroup: { ...small.size.cgroup, cpuShares: 1 } };
  expect(planned(plain, small)).toEqual(['resize-sandbox s0']);
  expect(planned(plain, state())).toEqual(['update-resources a']);
  expect(planned(restarting, state())).toEqual(['stop-container a 30']);
  const changing = state();
  const condition = (type: string, at: PodState) =>
    statusOf(plain, at).conditions.find((each: any) => each.type === type);
  expect(statusOf(plain, changing).containerStatuses[0]).toMatchObject({
    resources,
    allocatedResources: resized.requests,
  });
  expect(condition('PodResizeInProgress', changing).status).toBe('True');
  const before = podOf({ containers: [{ name: 'a', image: 'i:1', resources }] });
  changing.admitted = before.spec;
  changing.size = sizeOf(before);
  changing.resizeRejection = { reason: 'Deferred', message: 'no room', generation: 1 };
  expect(planned(plain, changing)).toEqual([]);
  expect(condition('PodResizePending', changing)).toMatchObject({
    status: 'True',
    reason: 'Deferred',
    message: 'no room',
  });
  expect(statusOf(plain, changing).containerStatuses[0].allocatedResources).toEqual(resources.requests);
  const done = state();
  begin(done, planPod(plain, done, NOW), NOW);
  finish(
    done,
    { type: 'update-resources', container: 'a', position: 0, id: 'a0', resources: resized, podResources: undefined },
    { type: 'done' },
    NOW,
  );
  expect(planned(plain, done)).toEqual([]);
  expect(condition('PodResizeInProgress', done)).toBeUndefined();
});

test('what ran when an agent ended goes on running, with its restart count and readiness', () => {
  const pod = podOf({ containers: [{ name: 'a', image: 'i:1', readinessProbe: {} }] });
  const before = stateWith(pod, [record('a', { attempt: 3, id: 'a3', statusId: 'm://a3' })]);
  stateOf(before, 'a').ready = true;
  const seen = { ...pod, status: statusOf(pod, before) };
  const state = adoptPod(
    seen,
    { sandboxes: [SANDBOX], containers: [record('a', { attempt: 3, id: 'a3', statusId: 'm://a3' })] },
    NOW,
  );
  expect(statusOf(pod, state).containerStatuses[0]).toMatchObject({ restartCount: 3, ready: true, started: true });
  expect(planned(pod, state)).toEqual(['prepare-volumes']);
});

test('a container that ran before, and that the runtime does not know, was lost and is restarted', () => {
  const pod = podOf();
  const seen = { ...pod, status: statusOf(pod, stateWith(pod, [record('a')])) };
  const state = adoptPod(seen, { sandboxes: [SANDBOX], containers: [] }, NOW);
  state.volumes = { type: 'done' };
  expect(shown(pod, state).terminated).toMatchObject({ exitCode: 137, reason: 'ContainerStatusUnknown' });
  expect(planned(pod, withImages(pod, state))).toEqual(['start-container a#1']);
});

test('a pod that has ended stays so when its records are gone', () => {
  const pod = { ...podOf({ restartPolicy: 'Never' }), status: { phase: 'Succeeded' } };
  const state = adoptPod(pod, { sandboxes: [], containers: [] }, NOW);
  expect(planned(pod, state)).toEqual(['release-volumes']);
  expect(statusOf(pod, state).phase).toBe('Succeeded');
});

test('a container whose turn has not come still waits after its pod was deleted', () => {
  const statuses = (pod: any, records: ContainerRecord[]) => {
    const gone = { ...pod, metadata: { ...pod.metadata, ...deleted(30) } };
    const state = stateWith(gone, records, []);
    Object.assign(state, { stopRequestedAt: NOW, endedAt: NOW, endPhase: 'Failed' });
    const { initContainerStatuses, containerStatuses } = statusOf(gone, state);
    return [...initContainerStatuses, ...containerStatuses].map(({ state }) => state);
  };
  const removed = (pod: any, records: ContainerRecord[]) =>
    statuses(pod, records).map(({ waiting, terminated }) => waiting ?? terminated.reason);
  const waits = { reason: 'PodInitializing' };
  const lost = 'ContainerStatusUnknown';
  const one = podOf({ initContainers: [{ name: 'i', image: 'i:1' }], restartPolicy: 'Never' });
  expect(removed(one, [ended('i', 1)])).toEqual(['Error', waits]);
  expect(removed(one, [ended('i', 0)])).toEqual(['Completed', lost]);
  expect(removed(one, [])).toEqual([lost, waits]);
  const message = 'The container could not be located when the pod was terminated';
  expect(statuses(one, [])[0].terminated).toEqual({ exitCode: 137, reason: lost, message });
  const three = initPod({ restartPolicy: 'Never' });
  expect(removed(three, [ended('i', 0), ended('s', 0)])).toEqual(['Completed', 'Completed', waits, waits]);
  expect(removed(three, [ended('i', 0), ended('s', 0), ended('j', 0)])).toEqual([
    ...['Completed', 'Completed', 'Completed', lost],
  ]);
});
