import { expect, test } from 'vitest';
import { create, update } from '../../../../../../test/support/kinds/test-object.ts';
import { clone } from '../../../../../base/json/tree.ts';
import { Pod } from '../pod.ts';

const container = { name: 'main', image: 'nginx:1' };

function changed(spec: object, change: (spec: any) => void, metadata: object = {}): readonly string[] {
  const { object } = create(Pod, {
    metadata: { name: 'a', namespace: 'ns', ...metadata },
    spec: { containers: [container], ...spec },
  });
  const wanted: any = clone(object);
  change(wanted.spec);
  return update(Pod, object, wanted).errors;
}

const forbidden =
  'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,' +
  '`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing ' +
  'tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n';

test('the same pod again is fine', () => {
  expect(changed({ volumes: [{ name: 'v' }], hostNetwork: true }, () => undefined)).toEqual([]);
});

test('fields that a client leaves to the defaults, or sends as empty, do not change', () => {
  const { object } = create(Pod, { metadata: { name: 'a', namespace: 'ns' }, spec: { containers: [container] } });
  const sent = { metadata: object.metadata, spec: { containers: [{ ...container, tty: false }], hostNetwork: false } };
  expect(update(Pod, object, sent).errors).toEqual([]);
});

test('images can change, in place', () => {
  const spec = { initContainers: [{ name: 'i', image: 'x:1' }] };
  const errors = changed(spec, (wanted) => {
    wanted.containers[0].image = 'nginx:2';
    wanted.initContainers[0].image = 'x:2';
  });
  expect(errors).toEqual([]);
});

test('any other change of a container cannot be made, and is shown', () => {
  const errors = changed({}, (wanted) => {
    wanted.containers[0].command = ['x'];
  });
  expect(errors).toEqual([
    `${forbidden}@@ -1,6 +1,9 @@
 {
  "containers": [
   {
+   "command": [
+    "x"
+   ],
    "image": "nginx:1",
    "imagePullPolicy": "IfNotPresent",
    "name": "main",
`,
  ]);
});

test.each([
  ['containers', (spec: any) => spec.containers.push({ name: 'b', image: 'x' })],
  ['initContainers', (spec: any) => (spec.initContainers = [{ name: 'b', image: 'x' }])],
])('%s can be neither added nor removed', (list, change) => {
  expect(changed({}, change)).toEqual([`spec.${list}: Forbidden: pod updates may not add or remove containers`]);
});

test.each([
  [undefined, 10, []],
  [10, 5, []],
  [10, 10, []],
  [10, 11, ['spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value']],
  [
    10,
    undefined,
    ['spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value'],
  ],
  [10, 0, ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive']],
])('the deadline goes from %s to %s', (before, after, errors) => {
  const change = (spec: any) => {
    spec.activeDeadlineSeconds = after;
  };
  expect(changed({ activeDeadlineSeconds: before }, change)).toEqual(errors);
});

const toleration = { key: 'k', operator: 'Exists', effect: 'NoExecute' };

test.each([
  ['added', [toleration, { key: 'n', operator: 'Exists' }], []],
  ['given a time', [{ ...toleration, tolerationSeconds: 5 }], []],
  [
    'taken away',
    [],
    ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  ],
  [
    'changed',
    [{ ...toleration, effect: 'NoSchedule' }],
    ['spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds'],
  ],
])('a toleration is %s', (_, tolerations, errors) => {
  const change = (spec: any) => {
    spec.tolerations = tolerations;
  };
  expect(changed({ tolerations: [toleration] }, change)).toEqual(errors);
});

test('gates can only be taken away', () => {
  const gates = [{ name: 'a' }, { name: 'b' }];
  const take = (spec: any) => {
    spec.schedulingGates = [{ name: 'b' }];
  };
  const add = (spec: any) => {
    spec.schedulingGates.push({ name: 'c' });
  };
  expect(changed({ schedulingGates: gates }, take)).toEqual([]);
  expect(changed({ schedulingGates: gates }, add)).toEqual([
    "spec.schedulingGates[2].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'",
  ]);
});

test('a pod that is held by gates can be restricted to fewer nodes', () => {
  const gated = { schedulingGates: [{ name: 'a' }], nodeSelector: { zone: 'x' } };
  const narrow = (spec: any) => {
    spec.nodeSelector.disk = 'ssd';
    const matchExpressions = [{ key: 'a', operator: 'Exists' }];
    const required = { nodeSelectorTerms: [{ matchExpressions }] };
    spec.affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } };
  };
  const widen = (spec: any) => {
    spec.nodeSelector = {};
  };
  expect(changed(gated, narrow)).toEqual([]);
  expect(changed(gated, widen)).toEqual([
    'spec.nodeSelector: Invalid value: null: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
  ]);
  expect(changed({ nodeSelector: { zone: 'x' } }, narrow)[0]).toContain(forbidden);
});

test('terms of a gated pod only grow', () => {
  const affinity = (...matchExpressions: object[]) => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
  });
  const [a, b] = [
    { key: 'a', operator: 'Exists' },
    { key: 'b', operator: 'Exists' },
  ];
  const spec = { schedulingGates: [{ name: 'g' }], affinity: affinity(a) };
  const to = (wanted: object) => (spec: any) => {
    spec.affinity = wanted;
  };
  const path = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  expect(changed(spec, to(affinity(a, b)))).toEqual([]);
  expect(changed(spec, to(affinity(b)))[0]).toMatch(/only additions are allowed \(no mutations or deletions\)$/);
  expect(changed(spec, to({}))).toEqual([
    `${path}: Invalid value: []: no additions/deletions to non-empty NodeSelectorTerms list are allowed`,
  ]);
});

test('some annotations belong to the life of the pod', () => {
  const key = 'container.apparmor.security.beta.kubernetes.io/main';
  const { object } = create(Pod, { metadata: { name: 'a', namespace: 'ns' }, spec: { containers: [container] } });
  const annotated: any = clone(object);
  annotated.metadata.annotations = { [key]: 'unconfined', other: 'x' };
  expect(update(Pod, object, annotated).errors).toEqual([
    `metadata.annotations[${key}]: Forbidden: may not add AppArmor annotations`,
  ]);
  expect(update(Pod, annotated, object).errors).toEqual([
    `metadata.annotations[${key}]: Forbidden: may not remove or update AppArmor annotations`,
  ]);
});

test('putting a pod on a node is for the binding alone', () => {
  const { object } = create(Pod, { metadata: { name: 'a', namespace: 'ns' }, spec: { containers: [container] } });
  const bound: any = clone(object);
  bound.spec.nodeName = 'n';
  expect(update(Pod, object, bound).errors[0]).toContain(forbidden);
  expect(update(Pod, object, bound, { subresource: 'binding' }).errors).toEqual([]);
});
