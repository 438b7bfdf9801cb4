import { describe, expect, test } from 'vitest';
import { create, update } from '../../../../../../test/support/kinds/test-object.ts';
import { Pod } from '../pod.ts';
import { trueRestarts } from './restart-counts.ts';

function told(status: object, { old = {}, spec = {} }: { old?: object; spec?: object } = {}) {
  const { object } = create(Pod, {
    metadata: { name: 'a', namespace: 'ns', ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }] },
    spec: { containers: [{ name: 'main', image: 'x' }], ...spec },
  });
  const before: any = { ...object, status: { ...object.status, ...old } };
  return update(Pod, before, { metadata: { name: 'a' }, status }, { subresource: 'status' });
}

test('fields that a writer leaves out stay: the class, the observed generation, and the owner of the pod', () => {
  const old = { observedGeneration: 3, conditions: [{ type: 'Ready', status: 'False', observedGeneration: 2 }] };
  const { object, errors } = told({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }, { old });
  expect(errors).toEqual([]);
  expect(object.status).toEqual({
    phase: 'Running',
    qosClass: 'BestEffort',
    observedGeneration: 3,
    conditions: [{ type: 'Ready', status: 'True', observedGeneration: 2 }],
  });
  expect(object.metadata.ownerReferences).toHaveLength(1);
});

test.each([
  [{ podIP: '10.0.0.1' }, '10.0.0.1', ['10.0.0.1']],
  [{ podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }, '10.0.0.1', ['10.0.0.1', 'fd00::1']],
  [{ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }, '10.0.0.1', ['10.0.0.1', 'fd00::1']],
  [{ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.2' }, { ip: 'fd00::1' }] }, '10.0.0.1', ['10.0.0.1']],
  [{}, undefined, undefined],
])('podIP and podIPs of %j agree', (status, podIP, podIPs) => {
  const { object, errors } = told(status);
  expect([errors, object.status.podIP, object.status.podIPs?.map(({ ip }) => ip)]).toEqual([[], podIP, podIPs]);
});

test('a podIP that is no address is invalid without podIPs, too', () => {
  expect(told({ podIP: '1.2.3.4; drop' }).errors).toEqual([
    'status.podIPs[0]: Invalid value: "1.2.3.4; drop": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ]);
});

test.each<[object, object, ...string[]]>([
  [{ qosClass: 'Guaranteed' }, {}, 'qosClass: Invalid value: "Guaranteed": field is immutable'],
  [{ observedGeneration: -1 }, {}, 'observedGeneration: Invalid value: -1: must be a non-negative integer'],
  [{ conditions: [{ type: 'example.com/x', status: 'True' }] }, {}],
  [
    { nominatedNodeName: 'n' },
    { spec: { nodeName: 'm' } },
    'nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node',
  ],
  [{ podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] }, {}],
  [
    { podIPs: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] },
    {},
    'podIPs: Invalid value: [{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}]: may specify no more than one IP for each IP family',
  ],
  [
    { podIPs: [{ ip: 'x' }] },
    {},
    'podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  [
    { hostIP: '1.1.1.1', hostIPs: [{ ip: '1.1.1.2' }] },
    {},
    'hostIPs[0].ip: Invalid value: "1.1.1.2": must be equal to `hostIP`',
  ],
  [
    { resourceClaimStatuses: [{ name: 'x' }] },
    {},
    'resourceClaimStatuses[0].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`',
  ],
])('status %j of %j', (status, start, ...errors) => {
  expect(told(status, start).errors).toEqual(errors.map((error) => `status.${error}`));
});

const ended = (exitCode: number) => ({ containerStatuses: [{ name: 'main', state: { terminated: { exitCode } } }] });
const running = { containerStatuses: [{ name: 'main', state: { running: {} } }] };
const back = ['status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state'];

test.each([
  [{ restartPolicy: 'Always' }, 0, []],
  [{ restartPolicy: 'OnFailure' }, 1, []],
  [{ restartPolicy: 'OnFailure' }, 0, back],
  [{ restartPolicy: 'Never' }, 1, back],
  [
    {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'main',
          image: 'x',
          restartPolicy: 'Never',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
        },
      ],
    },
    42,
    [],
  ],
])('a container of a pod with %j that ended with %i comes back', (spec, exitCode, errors) => {
  expect(told(running, { old: ended(exitCode), spec }).errors).toEqual(errors);
});

describe('restart counts', () => {
  const main = { name: 'main', image: 'x', imageID: '', ready: true };
  const spec = {
    containers: [
      { name: 'main', image: 'x' },
      { name: 'side', image: 'x' },
    ],
    initContainers: [{ name: 'init', image: 'x' }],
  };
  const written = (status: object) => told(status, { spec }).object as any;

  test.each([
    [4, 4],
    [5, 5],
    [6, 5],
    [1000, 5],
  ])('of %d are shown as %d', (restartCount, shown) => {
    const { status } = written({ containerStatuses: [{ ...main, restartCount }] });
    expect(status.containerStatuses[0].restartCount).toBe(shown);
  });

  test('beyond five are kept in an annotation, for every kind of container', () => {
    const { metadata, status } = written({
      containerStatuses: [
        { ...main, restartCount: 9 },
        { ...main, name: 'side', restartCount: 2 },
      ],
      initContainerStatuses: [{ ...main, name: 'init', restartCount: 7 }],
    });
    expect(status.initContainerStatuses[0].restartCount).toBe(5);
    expect(JSON.parse(metadata.annotations['kubernetes.io/restart-counts'])).toEqual({ main: 9, init: 7 });
    expect(trueRestarts(metadata.annotations, status.containerStatuses)).toEqual([9, 2]);
  });

  test('beyond five stay known when another container passes five', () => {
    const first = written({ containerStatuses: [{ ...main, restartCount: 9 }] });
    const containerStatuses = [
      { ...main, restartCount: 5 },
      { ...main, name: 'side', restartCount: 6 },
    ];
    const { annotations } = first.metadata;
    const body = { metadata: { name: 'a', annotations }, status: { containerStatuses } };
    const { object } = update(Pod, first, body, { subresource: 'status' });
    expect(trueRestarts(object.metadata.annotations, containerStatuses)).toEqual([9, 6]);
  });
});
