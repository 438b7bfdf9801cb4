import { describe, expect, it } from 'vitest';
import { ExpectedObjects } from './expected-objects.ts';
import { type Found, verdict } from './verdict.ts';

const READY = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };

/** Returns a cluster of one node in which everything is as requested. */
function story(): { expected: ExpectedObjects; found: { -readonly [Kind in keyof Found]: any[] } } {
  const expected = new ExpectedObjects();
  expected.namespaces.add('home');
  const wanted = { namespace: 'home', image: 'app:1' };
  expected.deployments.set('home/d0', { ...wanted, name: 'd0', replicas: 2 });
  expected.statefulSets.set('home/s0', { ...wanted, name: 's0', replicas: 2 });
  expected.daemonSets.set('home/e0', { ...wanted, name: 'e0' });
  expected.jobs.set('home/j1', { ...wanted, name: 'j1', completions: 2 });
  expected.bystanders = [{ namespace: 'home', name: 'bystander', uid: 'uid-bystander' }];
  let addresses = 0;
  const object = (name: string, owner?: string, kind = 'Owner') => ({
    metadata: {
      ...{ name, namespace: 'home', uid: `uid-${name}`, generation: 3 },
      ...(owner ? { ownerReferences: [{ kind, uid: `uid-${owner}`, controller: true }] } : {}),
    },
  });
  const pod = (name: string, owner: string, fields: object = {}): any => ({
    ...object(name, owner),
    spec: { nodeName: 'n1', containers: [{ image: 'app:1' }] },
    status: { ...READY, podIP: `10.0.0.${++addresses}` },
    ...fields,
  });
  const sizes = { observedGeneration: 3, replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2 };
  const counts = { desiredNumberScheduled: 1, currentNumberScheduled: 1, numberReady: 1, numberAvailable: 1 };
  const pods = [
    ...[pod('d0-a', 'rs'), pod('d0-b', 'rs'), pod('s0-0', 's0'), pod('s0-1', 's0'), pod('e0-a', 'e0')],
    ...['j1-a', 'j1-b'].map((name) => pod(name, 'j1', { status: { phase: 'Succeeded' } })),
    { ...pod('bystander', 'holder'), ...object('bystander', 'holder', 'ConfigMap') },
  ];
  const endpoints = ['d0', 's0'].map((name) => ({
    metadata: { ...object(name).metadata, uid: `uid-endpoints-${name}` },
    subsets: [
      {
        addresses: pods
          .filter((each) => each.metadata.name.startsWith(name))
          .map(({ metadata }) => ({ targetRef: { uid: metadata.uid } })),
      },
    ],
  }));
  const complete = [{ type: 'Complete', status: 'True' }];
  const found = {
    namespaces: ['home', 'default', 'kube-system'].map((name) => ({ metadata: { name } })),
    nodes: [{ metadata: { name: 'n1', uid: 'uid-n1' } }],
    deployments: [{ ...object('d0'), status: sizes }],
    replicasets: [
      { ...object('rs', 'd0'), spec: { replicas: 2 }, status: sizes },
      { ...object('older', 'd0'), spec: { replicas: 0 }, status: { observedGeneration: 3 } },
    ],
    statefulsets: [{ ...object('s0'), status: { ...sizes, currentRevision: 'r', updateRevision: 'r' } }],
    daemonsets: [{ ...object('e0'), status: { observedGeneration: 3, ...counts, updatedNumberScheduled: 1 } }],
    controllerrevisions: [object('r', 's0')],
    jobs: [{ ...object('j1'), status: { conditions: complete, succeeded: 2, uncountedTerminatedPods: {} } }],
    pods,
    configmaps: [object('holder')],
    endpoints,
    resourcequotas: [{ ...object('all'), status: { used: { pods: '6' } } }],
  };
  return { expected, found: structuredClone(found) };
}

type Story = ReturnType<typeof story>;
const podNamed = ({ found }: Story, name: string) => found.pods.find(({ metadata }) => metadata.name === name);

describe('the verdict', () => {
  it('has nothing to say where everything is as it was asked for', () => {
    const { expected, found } = story();
    expect(verdict(expected, found)).toEqual([]);
  });

  it.each<[string, (story: Story) => unknown, string]>([
    ['an object that is missing', ({ found }) => found.jobs.pop(), 'job home/j1 is missing'],
    ['what should be gone', ({ expected }) => expected.daemonSets.clear(), 'daemon set home/e0 should be gone'],
    [
      'a namespace that does not go',
      ({ found }) => found.namespaces.push({ metadata: { name: 'passing-1' } }),
      'namespace passing-1 should be gone',
    ],
    ['a pod without owner', ({ found }) => found.statefulsets.pop(), 'home/s0-0 belongs to nobody'],
    [
      'a pod too many',
      (all) => all.found.pods.push(podNamed(all, 'd0-a')),
      'deployment home/d0 has 3 pods instead of 2',
    ],
    [
      'an old pod',
      (all) => Object.assign(podNamed(all, 's0-1').spec.containers[0], { image: 'app:0' }),
      'stateful set home/s0: s0-1 runs app:0 instead of app:1',
    ],
    [
      'a pod that is not ready',
      (all) => Object.assign(podNamed(all, 'e0-a').status, { conditions: [] }),
      'e0-a is not ready',
    ],
    [
      'a pod that does not go',
      (all) => Object.assign(podNamed(all, 'd0-b').metadata, { deletionTimestamp: 'now' }),
      'd0-b is leaving',
    ],
    [
      'a count that is wrong',
      ({ found }) => found.deployments[0].status.readyReplicas--,
      'says readyReplicas 1 instead of 2',
    ],
    ['two sets with pods', ({ found }) => found.replicasets[1].spec.replicas++, 'has 2 replica sets with pods'],
    ['a job that counts twice', ({ found }) => found.jobs[0].status.succeeded++, 'counts 3 succeeded'],
    [
      'a pod of a job that is held',
      (all) => Object.assign(podNamed(all, 'j1-a').metadata, { finalizers: ['x'] }),
      'job home/j1: j1-a is held',
    ],
    [
      'endpoints that lack a pod',
      ({ found }) => found.endpoints[0].subsets[0].addresses.pop(),
      'does not lead to d0-b',
    ],
    [
      'a bystander that was taken',
      (all) => Object.assign(podNamed(all, 'bystander').metadata.ownerReferences[0], { kind: 'ReplicaSet' }),
      'bystander bystander was touched',
    ],
    [
      'an address that two pods have',
      (all) => Object.assign(podNamed(all, 'd0-a').status, { podIP: podNamed(all, 'd0-b').status.podIP }),
      'two pods have the address 10.0.0.2',
    ],
    [
      'a quota that counts wrongly',
      ({ found }) => Object.assign(found.resourcequotas[0].status.used, { pods: '7' }),
      'counts 7 pods',
    ],
  ])('notices %s', (_, breaks, sentence) => {
    const all = story();
    breaks(all);
    expect(verdict(all.expected, all.found)).toContainEqual(expect.stringContaining(sentence));
  });
});
