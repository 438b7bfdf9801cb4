import { expect, test } from 'vitest';
import { specErrors } from '../../../../../test/support/kinds/test-pod.ts';

const name =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is " +
  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

test.each<[object, ...string[]]>([
  [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }],
  [{ operator: 'Exists' }],
  [{ key: 'k', value: 'v' }],
  [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
  [
    {},
    'operator: Invalid value: "": operator must be Exists when `key` is empty, which means "match all values and all keys"',
  ],
  [{ key: 'a b', operator: 'Exists' }, `key: Invalid value: "a b": name part ${name}`],
  [
    { key: 'k', operator: 'Exists', value: 'v' },
    `operator: Invalid value: "v": value must be empty when \`operator\` is 'Exists'`,
  ],
  [{ key: 'k', operator: 'Near' }, 'operator: Unsupported value: "Near": supported values: "Equal", "Exists"'],
  [
    { key: 'k', operator: 'Exists', effect: 'Never' },
    'effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ],
  [
    { key: 'k', operator: 'Exists', tolerationSeconds: 5 },
    `effect: Invalid value: "": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
  ],
])('toleration %j', (toleration, ...errors) => {
  expect(specErrors({ tolerations: [toleration] })).toEqual(errors.map((error) => `spec.tolerations[0].${error}`));
});

const required = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution';

test.each([
  [{ key: 'a', operator: 'In', values: ['b'] }, []],
  [{ key: 'a', operator: 'In' }, [`values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`]],
  [
    { key: 'a', operator: 'Exists', values: ['b'] },
    [`values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`],
  ],
  [
    { key: 'a', operator: 'Gt', values: ['1', '2'] },
    [`values: Required value: must be specified single value when \`operator\` is 'Lt' or 'Gt'`],
  ],
  [{ key: 'a', operator: 'Like' }, ['operator: Invalid value: "Like": not a valid selector operator']],
])('a node is asked for %j', (expression, errors) => {
  const nodeSelectorTerms = [{ matchExpressions: [expression] }];
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
  const path = `${required}.nodeSelectorTerms[0].matchExpressions[0].`;
  expect(specErrors({ affinity })).toEqual(errors.map((error) => path + error));
});

test('a node can be selected by its name, and by no other field', () => {
  const terms = [
    { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] },
    { matchFields: [{ key: 'spec.x', operator: 'In', values: ['n'] }] },
  ];
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } };
  expect(specErrors({ affinity })).toEqual([
    `${required}.nodeSelectorTerms[1].matchFields[0].key: Invalid value: "spec.x": not a valid field selector key`,
  ]);
});

test('required terms cannot be empty, and weights go from 1 to 100', () => {
  const nodeAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: {},
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: {} }],
  };
  expect(specErrors({ affinity: { nodeAffinity } })).toEqual([
    `${required}.nodeSelectorTerms: Required value: must have at least one node selector term`,
    'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be ' +
      'in the range 1-100',
  ]);
});

test.each<[object, ...string[]]>([
  [{ topologyKey: 'zone', labelSelector: {} }],
  [
    { labelSelector: {} },
    'topologyKey: Required value: can not be empty',
    'topologyKey: Invalid value: "": name part must be non-empty',
    `topologyKey: Invalid value: "": name part ${name}`,
  ],
  [
    { topologyKey: 'zone', matchLabelKeys: ['a'] },
    'matchLabelKeys: Forbidden: must not be specified when labelSelector is not set',
  ],
  [
    { topologyKey: 'zone', labelSelector: {}, matchLabelKeys: ['a'], mismatchLabelKeys: ['a'] },
    'matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys',
  ],
])('a pod wants to be near %j', (term, ...errors) => {
  const path = 'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution';
  const podAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
  expect(specErrors({ affinity: { podAffinity } })).toEqual(errors.map((error) => `${path}[0].${error}`));
});

const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} };

test.each([
  [{}, []],
  [{ maxSkew: 0 }, ['maxSkew: Invalid value: 0: must be greater than zero']],
  [{ topologyKey: '' }, ['topologyKey: Required value: can not be empty']],
  [
    { whenUnsatisfiable: 'x' },
    ['whenUnsatisfiable: Unsupported value: "x": supported values: "DoNotSchedule", "ScheduleAnyway"'],
  ],
  [
    { whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2 },
    ['minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway'],
  ],
  [{ nodeTaintsPolicy: 'x' }, ['nodeTaintsPolicy: Unsupported value: "x": supported values: "Honor", "Ignore"']],
])('pods spread %j', (fields, errors) => {
  const path = 'spec.topologySpreadConstraints[0].';
  expect(specErrors({ topologySpreadConstraints: [{ ...spread, ...fields }] })).toEqual(errors.map((e) => path + e));
});

test('a topology is spread over once', () => {
  expect(specErrors({ topologySpreadConstraints: [spread, spread] })).toEqual([
    'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, DoNotSchedule}"',
  ]);
});

test('labels of nodes are labels', () => {
  expect(specErrors({ nodeSelector: { 'a b': 'c' } })).toEqual([
    `spec.nodeSelector: Invalid value: "a b": name part ${name}`,
  ]);
});
