/** Long expressions are evaluated over many turns of the event loop, while other requests are served. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../../test/support/server.ts';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { allKinds } from '../../../../kinds/all.ts';
import { mutatingAdmissionPolicy } from '../policies/mutating.ts';
import { validatingAdmissionPolicy } from '../policies/validating.ts';

const DEFINITIONS = { apiVersion: 'apiextensions.k8s.io/v1', namespace: '' };
const POLICIES = { apiVersion: 'admissionregistration.k8s.io/v1', namespace: '' };
const THINGS = { apiVersion: 'example.com/v1', namespace: '' };

/** An expression that costs some 500,000 units, of which a turn takes 10,000. */
const LONG = 'self.list.all(x, self.list.all(y, x + y >= 0))';
const MIN_TURNS = 30;
const list = Array.from({ length: 250 }, (_, i) => i);

/** A clock that advances by a millisecond with every read: ten reads use up the budget of one turn. */
function slowClock(): ControlledClock {
  let now = 0;
  return Object.assign(new ControlledClock(), { monotonic: () => ++now });
}

/** Reads an object in every turn of the event loop until the work is done; returns the number of reads. */
async function readsDuring(api: TestServer, work: Promise<unknown>): Promise<number> {
  let isDone = false;
  const finished = work.finally(() => {
    isDone = true;
  });
  let reads = 0;
  while (!isDone) {
    await api.get('configmaps', 'other');
    reads++;
    await nextTurn();
  }
  await finished;
  return reads;
}

/** Resolves when the kind is served. */
async function define(api: TestServer, rules: readonly object[]): Promise<void> {
  const spec = {
    type: 'object',
    properties: {
      list: { type: 'array', maxItems: 250, items: { type: 'integer' } },
      text: { type: 'string', maxLength: 10 },
    },
    'x-kubernetes-validations': rules,
  };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const names = { plural: 'things', kind: 'Thing' };
  const body = {
    metadata: { name: 'things.example.com' },
    spec: { group: 'example.com', scope: 'Cluster', names, versions },
  };
  await api.create('customresourcedefinitions', body, DEFINITIONS);
  const watch = await api.watch('customresourcedefinitions', DEFINITIONS);
  const isServed = (object: any) => object.status?.conditions?.some(({ type }: any) => type === 'Established');
  while (!watch.events.some(({ object }) => isServed(object))) await watch.next();
  watch.stop();
}

const matchConstraints = {
  resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
};
const FROM_OBJECT = LONG.replaceAll('self.list', 'object.spec.tolerations').replaceAll(
  'x + y >= 0',
  'x.key != "" && y.key != ""',
);
const pod = {
  metadata: { name: 'p' },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    tolerations: list.map((i) => ({ key: `k${i}`, operator: 'Exists' })),
  },
};

let api: TestServer;

beforeEach(async () => {
  api = await testServer(allKinds, {
    admission: [mutatingAdmissionPolicy, validatingAdmissionPolicy],
    clock: slowClock(),
  });
  await api.create('configmaps', { metadata: { name: 'other' } });
});

afterEach(() => api.server.close());

it('rules of custom kinds are evaluated in turns', async () => {
  await define(api, [{ rule: LONG }, { rule: 'self.list[0] == 0', messageExpression: `${LONG} ? "a" : "b"` }]);
  const thing = { metadata: { name: 'a' }, spec: { list } };
  expect(await readsDuring(api, api.create('things', thing, THINGS))).toBeGreaterThan(MIN_TURNS);
  const wrong = { metadata: { name: 'b' }, spec: { list: [1, ...list.slice(1)] } };
  const rejected = expect(api.create('things', wrong, THINGS)).rejects.toThrow('spec: Invalid value: a');
  expect(await readsDuring(api, rejected)).toBeGreaterThan(2 * MIN_TURNS);
});

it('rules of custom kinds are evaluated again when the object was changed in the meantime', async () => {
  await define(api, [{ rule: LONG }]);
  await api.create('things', { metadata: { name: 'a' }, spec: { list } }, THINGS);
  const before = await api.get('things', 'a', THINGS);
  const slow = api.patch('things', 'a', { spec: { text: 'slow' } }, THINGS);
  const stale = api.update('things', { ...before, spec: { list, text: 'stale' } }, THINGS);
  const rejected = expect(stale).rejects.toMatchObject({ reason: 'Conflict' });
  await nextTurn();
  await api.patch('things', 'a', { metadata: { labels: { changed: 'yes' } }, spec: { list: [] } }, THINGS);
  await Promise.all([slow, rejected]);
  expect(await api.get('things', 'a', THINGS)).toMatchObject({
    metadata: { labels: { changed: 'yes' } },
    spec: { list: [], text: 'slow' },
  });
});

it.each([
  ['validations', { validations: [{ expression: FROM_OBJECT }] }],
  [
    'variables',
    { variables: [{ name: 'v', expression: FROM_OBJECT }], validations: [{ expression: 'variables.v && true' }] },
  ],
  [
    'match conditions',
    { matchConditions: [{ name: 'm', expression: FROM_OBJECT }], validations: [{ expression: 'true' }] },
  ],
  ['messages', { validations: [{ expression: '"a" == "b"', messageExpression: `${FROM_OBJECT} ? "no" : "yes"` }] }],
  ['audit annotations', { auditAnnotations: [{ key: 'k', valueExpression: `${FROM_OBJECT} ? "no" : "yes"` }] }],
])('expressions of policies are evaluated in turns: %s', async (_, spec) => {
  await api.create(
    'validatingadmissionpolicies',
    { metadata: { name: 'p' }, spec: { matchConstraints, ...spec } },
    POLICIES,
  );
  const binding = { policyName: 'p', validationActions: ['Warn'] };
  await api.create('validatingadmissionpolicybindings', { metadata: { name: 'b' }, spec: binding }, POLICIES);
  expect(await readsDuring(api, api.create('pods', pod))).toBeGreaterThan(MIN_TURNS);
});

it('expressions of policies are evaluated in turns: mutations', async () => {
  const expression = `[JSONPatch{op: "add", path: "/metadata/labels", value: {"a": string(${FROM_OBJECT})}}]`;
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }];
  await api.create(
    'mutatingadmissionpolicies',
    { metadata: { name: 'p' }, spec: { matchConstraints, mutations, reinvocationPolicy: 'Never' } },
    POLICIES,
  );
  const binding = { metadata: { name: 'b' }, spec: { policyName: 'p' } };
  await api.create('mutatingadmissionpolicybindings', binding, POLICIES);
  expect(await readsDuring(api, api.create('pods', pod))).toBeGreaterThan(MIN_TURNS);
  expect((await api.get('pods', 'p')).metadata.labels).toEqual({ a: 'true' });
});
