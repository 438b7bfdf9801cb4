import { expect, it } from 'vitest';
import { testServer } from '../../../../../test/support/server.ts';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { allKinds } from '../../../../kinds/all.ts';
import { validatingAdmissionPolicy } from './validating.ts';

const asked = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] };
const PARAMS = 10_000;

/** A clock that advances by a millisecond with every read: ten reads use up the budget of one turn. */
function slowClock(): ControlledClock {
  let now = 0;
  return Object.assign(new ControlledClock(), { monotonic: () => ++now });
}

/** Counts the turns of the event loop that something takes, in each of which other requests are served. */
async function turnsOf(run: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await run();
  isDone = true;
  return turns;
}

it('evaluates a policy with thousands of parameters without delaying other requests', async () => {
  const api = await testServer(allKinds, { admission: [validatingAdmissionPolicy], clock: slowClock() });
  for (let at = 0; at < PARAMS; at++) {
    await api.create('configmaps', { metadata: { name: `p-${at}`, labels: { use: 'yes' } }, data: { name: 'x' } });
  }
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const validations = [{ expression: 'params.data.name != object.metadata.name' }];
  const spec = { matchConstraints: { resourceRules: [rule] }, paramKind, validations };
  await api.create('validatingadmissionpolicies', { metadata: { name: 'p' }, spec }, asked);
  const paramRef = { selector: { matchLabels: { use: 'yes' } }, parameterNotFoundAction: 'Deny' };
  const binding = { policyName: 'p', validationActions: ['Deny'], paramRef };
  await api.create('validatingadmissionpolicybindings', { metadata: { name: 'b' }, spec: binding }, asked);
  // Parameters are selected, read and evaluated, and each step may wait for the next turn.
  expect(await turnsOf(() => api.create('secrets', { metadata: { name: 's' } }))).toBeGreaterThan((3 * PARAMS) / 20);
  await expect(api.create('secrets', { metadata: { name: 'x' } })).rejects.toThrow('denied request');
}, 120_000);
