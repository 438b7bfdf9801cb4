import { afterEach, describe, expect, it } from 'vitest';
import { Lease } from '../../src/kinds/groups/coordination/lease.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import { type SimulatedCluster, simulatedCluster } from '../support/simulated.ts';

let cluster: SimulatedCluster;
afterEach(() => cluster.stop());

const conditions = (pod: any) => Object.fromEntries(pod.status.conditions.map((each: any) => [each.type, each.status]));
const isReady = (pod: any) =>
  pod.status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');
const state = (pod: any, name = 'c') =>
  [...(pod.status.initContainerStatuses ?? []), ...(pod.status.containerStatuses ?? [])].find(
    (each) => each.name === name,
  );
const events = async () => (await cluster.client.of(Event).in('default').list()).items;
/** Events about one part of the object or all, in order. */
const told = async (part?: string) =>
  (await events())
    .filter(({ involvedObject }) => part === undefined || involvedObject.fieldPath === part)
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
/** Writes the status that the node lifecycle controller writes for pods of a silent node. */
const deny = async (name: string) => {
  const changes = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
  await cluster.client.of(Pod).in('default').patchStatus(name, { type: 'strategic', changes });
  expect(isReady(await cluster.pod(name))).toBe(false);
};
const gone = async (name: string) => {
  for (let tries = 0; tries < 200; tries++) {
    const { items } = await cluster.client.of(Pod).in('default').list();
    if (!items.some((pod) => pod.metadata.name === name)) return;
    await cluster.clock.advance(200);
  }
  throw new Error(`${name} is still there`);
};

describe('nodes', () => {
  it('manage the status that they write, and nothing else', async () => {
    cluster = await simulatedCluster();
    await cluster.run('p');
    const { metadata, status } = await cluster.until('p', isReady);
    const managed: any[] = metadata.managedFields!.map(({ manager, operation, subresource = '', fieldsV1 }: any) => {
      return { who: `${manager} ${operation} ${subresource}`, fields: fieldsV1 };
    });
    const node = managed.find(({ who }) => who === 'kubelet Update status');
    expect(managed.map(({ fields }) => Object.keys(fields)).sort()).toEqual([['f:spec'], ['f:status']]);
    const ip = `k:${JSON.stringify({ ip: (status as any).podIP })}`;
    expect(node.fields['f:status']['f:podIPs']).toEqual({ '.': {}, [ip]: { '.': {}, 'f:ip': {} } });
  });

  it('register with status and lease', async () => {
    cluster = await simulatedCluster();
    const { items } = await cluster.client.of(Node).list();
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['n1', 'n2']);
    expect(items[1]).toMatchObject({
      metadata: {
        labels: {
          'beta.kubernetes.io/arch': 'amd64',
          'beta.kubernetes.io/os': 'linux',
          'kubernetes.io/arch': 'amd64',
          'kubernetes.io/hostname': 'n2',
          'kubernetes.io/os': 'linux',
        },
      },
      spec: { podCIDR: '10.244.1.0/24' },
      status: {
        capacity: { cpu: '32', pods: '110' },
        allocatable: { memory: '256Gi' },
        addresses: [
          { type: 'InternalIP', address: '100.64.0.2' },
          { type: 'Hostname', address: 'n2' },
        ],
        nodeInfo: { kubeletVersion: 'v1.36.4', operatingSystem: 'linux' },
      },
    });
    expect(items[0]?.status.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    const lease = await cluster.client.of(Lease).in('kube-node-lease').get('n1');
    expect(lease.spec).toMatchObject({ holderIdentity: 'n1', leaseDurationSeconds: 240 });
  });

  it('renew their leases before they run out', async () => {
    cluster = await simulatedCluster();
    const lease = () => cluster.client.of(Lease).in('kube-node-lease').get('n1');
    const before = Date.parse((await lease()).spec.renewTime ?? '');
    await cluster.clock.advance(130_000);
    const after = Date.parse((await lease()).spec.renewTime ?? '');
    expect(after).toBeGreaterThan(before);
    expect(cluster.clock.now() - after).toBeLessThan(61_000);
  });

  it('go down by annotation, and come back with all their pods', async () => {
    cluster = await simulatedCluster();
    const nodes = cluster.client.of(Node);
    const annotate = (value: string | null) =>
      nodes.patch('n1', {
        type: 'merge',
        changes: { metadata: { annotations: { 'simulated.kubernetes.io/down': value } } },
      });
    await cluster.run('before');
    await cluster.until('before', isReady);
    await annotate('true');
    await cluster.clock.advance(1_000);
    const lease = await cluster.client.of(Lease).in('kube-node-lease').get('n1');
    expect(lease.spec.leaseDurationSeconds).toBe(40);
    await cluster.run('a');
    await cluster.clock.advance(200_000);
    expect((await cluster.pod('a')).status.phase).toBe('Pending');
    expect((await cluster.client.of(Lease).in('kube-node-lease').get('n1')).spec.renewTime).toBe(lease.spec.renewTime);
    const unknown = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'x' }];
    await nodes.patchStatus('n1', { type: 'strategic', changes: { status: { conditions: unknown } } });
    await deny('before');
    await annotate(null);
    await cluster.until('a', isReady);
    await cluster.until('before', isReady);
    expect((await nodes.get('n1')).status.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    const ready = (await events()).filter(({ reason }) => reason === 'NodeReady');
    expect(ready.map(({ message, count }) => [message, count])).toEqual([['Node n1 status is now: NodeReady', 1]]);
  });

  it('write the status of a pod again when another client overwrites it, also after a restart', async () => {
    cluster = await simulatedCluster();
    await cluster.run('a');
    await cluster.until('a', isReady);
    await deny('a');
    await cluster.until('a', isReady);
    await cluster.nodes.stop();
    await deny('a');
    await cluster.restart();
    await cluster.until('a', isReady);
  });

  it('follow the rules of the file', async () => {
    const rules = {
      nodes: [
        { names: 'n1', labels: { 'topology.kubernetes.io/zone': 'a' }, capacity: { cpu: 4 } },
        { names: 'n2', taints: [{ key: 'gpu', effect: 'NoSchedule' }], down: { after: '5s', for: '10s' } },
      ],
    };
    cluster = await simulatedCluster({ rules });
    const [n1, n2] = (await cluster.client.of(Node).list()).items;
    expect(n1).toMatchObject({
      metadata: { labels: { 'topology.kubernetes.io/zone': 'a' } },
      status: { capacity: { cpu: '4', pods: '110' } },
    });
    expect(n2?.spec.taints).toEqual([{ key: 'gpu', effect: 'NoSchedule' }]);
    const lease = () => cluster.client.of(Lease).in('kube-node-lease').get('n2');
    await cluster.clock.advance(6_000);
    expect((await lease()).spec.leaseDurationSeconds).toBe(40);
    await cluster.clock.advance(10_000);
    expect((await lease()).spec.leaseDurationSeconds).toBe(240);
  });

  it('record events when they are cordoned and uncordoned', async () => {
    cluster = await simulatedCluster();
    const close = (unschedulable: boolean | null) =>
      cluster.client.of(Node).patch('n1', { type: 'merge', changes: { spec: { unschedulable } } });
    await close(true);
    await cluster.clock.advance(100);
    await cluster.restart();
    await close(null);
    await cluster.clock.advance(100);
    expect(await told()).toEqual([
      'Normal NodeNotSchedulable Node n1 status is now: NodeNotSchedulable',
      'Normal NodeSchedulable Node n1 status is now: NodeSchedulable',
    ]);
    expect((await events())[0]?.involvedObject).toEqual({ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n1' });
  });

  it('are unknown from the start that leaves them out, for as long as that lasts', async () => {
    cluster = await simulatedCluster({ names: ['n1', 'n2', 'n3'] });
    const statuses = async () => {
      const { items } = await cluster.client.of(Node).list();
      return items.map(({ status }) => status.conditions?.map((each) => each.status).join(' '));
    };
    const [well, unknown] = ['False False False True', 'Unknown Unknown Unknown Unknown'];
    expect(await statuses()).toEqual([well, well, well]);
    await cluster.restart(['n1']);
    expect(await statuses()).toEqual([well, unknown, unknown]);
    const { metadata, status } = await cluster.client.of(Node).get('n2');
    expect(status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      ...{ status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' },
      lastHeartbeatTime: metadata.creationTimestamp,
    });
    await cluster.clock.advance(600_000);
    expect(await statuses()).toEqual([well, unknown, unknown]);
    await cluster.restart(['n1', 'n2']);
    await cluster.clock.advance(1_000);
    expect(await statuses()).toEqual([well, well, unknown]);
    expect(cluster.complaints).toEqual([]);
  });

  it('that run elsewhere are not marked', async () => {
    cluster = await simulatedCluster();
    const { status } = await cluster.client.of(Node).get('n1');
    const nodeInfo = { ...status.nodeInfo, containerRuntimeVersion: 'containerd://2.0.0' };
    await cluster.client.of(Node).create({ metadata: { name: 'real' }, status: { ...status, nodeInfo } } as any);
    await cluster.restart(['n1']);
    const { conditions } = (await cluster.client.of(Node).get('real')).status;
    expect(conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
  });

  it('use one timer for all their pods', async () => {
    cluster = await simulatedCluster();
    await cluster.run('a');
    await cluster.until('a', isReady);
    const { waiting } = cluster.clock;
    for (const name of ['b', 'c', 'd']) await cluster.run(name);
    for (const name of ['b', 'c', 'd']) await cluster.until(name, isReady);
    expect(cluster.clock.waiting).toBe(waiting);
  });
});

describe('a pod', () => {
  it('is created, runs and is ready, with an address of its node and all its conditions', async () => {
    cluster = await simulatedCluster();
    await cluster.run('a');
    const creating = await cluster.until('a', ({ status }) => status.startTime);
    expect(state(creating)).toMatchObject({
      ready: false,
      started: false,
      state: { waiting: { reason: 'ContainerCreating' } },
    });
    expect(conditions(creating)).toEqual({
      PodReadyToStartContainers: 'False',
      Initialized: 'True',
      Ready: 'False',
      ContainersReady: 'False',
      PodScheduled: 'True',
    });
    const pod = await cluster.until('a', isReady);
    expect(pod.status).toMatchObject({
      phase: 'Running',
      hostIP: '100.64.0.1',
      podIP: '10.244.0.2',
      podIPs: [{ ip: '10.244.0.2' }],
    });
    expect(pod.status.conditions.map(({ type }: any) => type)).toEqual([
      'PodReadyToStartContainers',
      'Initialized',
      'Ready',
      'ContainersReady',
      'PodScheduled',
    ]);
    expect(state(pod)).toMatchObject({
      ready: true,
      started: true,
      restartCount: 0,
      image: 'nginx:1.27',
      imageID: expect.stringMatching(/^nginx@sha256:[0-9a-f]{64}$/),
      containerID: expect.stringMatching(/^simulated:\/\/[0-9a-f]{64}$/),
      lastState: {},
    });
    // Conditions that hold have no reason of an earlier failure.
    expect(pod.status.conditions.filter(({ reason, message }: any) => reason || message)).toEqual([]);
    await cluster.clock.advance(100);
    expect(await told('spec.containers{c}')).toEqual([
      'Normal Pulled Container image "nginx:1.27" already present on machine and can be accessed by the pod',
      'Normal Created Container created',
      'Normal Started Container started',
    ]);
    expect(cluster.complaints).toEqual([]);
  });

  it('pulls an image that takes time, and one with the policy Always at every start, with events', async () => {
    const rules = {
      pods: [{ match: { names: 'slow' }, stages: { pull: '1500ms' } }, { stages: { run: '5s exit 1' } }],
    };
    cluster = await simulatedCluster({ rules });
    await cluster.run('slow');
    const waiting = await cluster.until('slow', ({ status }) => status.podIP);
    expect(state(waiting)).toMatchObject({ imageID: '', state: { waiting: { reason: 'ContainerCreating' } } });
    await cluster.until('slow', isReady);
    const [pulling, pulled] = await told();
    expect(pulling).toBe('Normal Pulling Pulling image "nginx:1.27"');
    const time = '1.5s \\(1.5s including waiting\\)';
    const words = `^Normal Pulled Successfully pulled image "nginx:1.27" in ${time}\\. Image size: \\d+ bytes\\.$`;
    expect(pulled).toMatch(new RegExp(words));
    await cluster.run('latest', { spec: { containers: [{ name: 'c', image: 'busybox' }] } });
    await cluster.until('latest', (pod) => state(pod)?.restartCount === 1 && isReady(pod));
    const again = (await events()).find(({ message }) => message === 'Pulling image "busybox"');
    expect(again).toMatchObject({ count: 2 });
  });

  it('waits for an image that cannot be pulled, and reports why', async () => {
    const rules = { pods: [{ match: { images: '*:bad' }, stages: { pull: { takes: '1s', fails: 'not found' } } }] };
    cluster = await simulatedCluster({ rules });
    const image = 'nginx:bad';
    await cluster.run('a', { spec: { containers: [{ name: 'c', image }] } });
    const why = 'failed to pull and unpack image "nginx:bad": not found';
    const failed = await cluster.until('a', (pod) => state(pod)?.state.waiting?.reason === 'ErrImagePull');
    expect(state(failed)).toMatchObject({ image, imageID: '', state: { waiting: { message: why } } });
    const waits = await cluster.until('a', (pod) => state(pod)?.state.waiting?.reason === 'ImagePullBackOff');
    const { message } = state(waits).state.waiting;
    expect(message).toBe(`Back-off pulling image "nginx:bad": ErrImagePull: ${why}`);
    expect(await told()).toEqual([
      'Normal Pulling Pulling image "nginx:bad"',
      `Warning Failed Failed to pull image "nginx:bad": ${why}`,
      'Warning Failed Error: ErrImagePull',
      'Normal BackOff Back-off pulling image "nginx:bad"',
      'Warning Failed Error: ImagePullBackOff',
    ]);
    await cluster.run('b', { spec: { containers: [{ name: 'c', image, imagePullPolicy: 'Never' }] } });
    const never = await cluster.until('b', (pod) => state(pod)?.state.waiting?.reason === 'ErrImageNeverPull');
    const words = 'Container image "nginx:bad" is not present with pull policy of Never';
    expect(state(never).state.waiting.message).toBe(words);
    expect(await told()).toContain(`Warning ErrImageNeverPull ${words}`);
  });

  it('waits for an image with an invalid name, and runs when it is corrected', async () => {
    cluster = await simulatedCluster();
    await cluster.run('a', { spec: { containers: [{ name: 'c', image: 'nginx:1:2' }] } });
    const waits = await cluster.until('a', (pod) => state(pod)?.state.waiting?.reason === 'InvalidImageName');
    const words = `Failed to apply default image tag "nginx:1:2": couldn't parse image name "nginx:1:2"`;
    expect(state(waits).state.waiting.message).toBe(`${words}: invalid reference format`);
    expect(await told()).toEqual([
      `Warning InspectFailed ${words}: invalid reference format`,
      'Warning Failed Error: InvalidImageName',
    ]);
    const spec = { containers: [{ name: 'c', image: 'nginx:1' }] };
    await cluster.client.of(Pod).in('default').patch('a', { type: 'strategic', changes: { spec } });
    expect(state(await cluster.until('a', isReady))).toMatchObject({ image: 'nginx:1', restartCount: 0 });
  });

  it('that fails without a message has the end of its log with FallbackToLogsOnError', async () => {
    const logs = { every: '10ms', lines: ['{n}: x'.padEnd(60, 'é')] };
    cluster = await simulatedCluster({ rules: { pods: [{ stages: { run: '5s exit 1', logs } }] } });
    const containers = [
      { name: 'c', image: 'x', terminationMessagePolicy: 'FallbackToLogsOnError' },
      { name: 'other', image: 'x' },
    ];
    await cluster.run('a', { spec: { restartPolicy: 'Never', containers } });
    const pod = await cluster.until('a', ({ status }) => status.phase === 'Failed');
    const { message } = state(pod).state.terminated;
    expect(Buffer.byteLength(message)).toBeGreaterThan(2040);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(2048);
    expect(message).toMatch(/501: xé+\n$/);
    expect(message).not.toContain('\ufffd');
    expect(state(pod, 'other').state.terminated.message).toBeUndefined();
  });

  it('starts its init containers one by one, and its sidecars beside the others', async () => {
    cluster = await simulatedCluster({ rules: { pods: [{ stages: { init: '10s', ready: '5s' } }] } });
    const image = 'busybox';
    await cluster.run('a', {
      spec: {
        initContainers: [
          { name: 'one', image },
          { name: 'side', image, restartPolicy: 'Always' },
          { name: 'two', image },
        ],
      },
    });
    const first = await cluster.until('a', (pod) => state(pod, 'one')?.state.running);
    expect(state(first, 'side').state.waiting).toBeTruthy();
    expect(first.status.phase).toBe('Pending');
    const second = await cluster.until('a', (pod) => state(pod, 'two')?.state.running);
    expect(state(second, 'one')).toMatchObject({
      ready: true,
      state: { terminated: { exitCode: 0, reason: 'Completed' } },
    });
    expect(state(second, 'side')).toMatchObject({ started: true, state: { running: {} } });
    expect(state(second)).toMatchObject({ state: { waiting: { reason: 'PodInitializing' } } });
    expect(conditions(second).Initialized).toBe('False');
    const running = await cluster.until('a', ({ status }) => status.phase === 'Running');
    expect(isReady(running)).toBe(false);
    expect(conditions(await cluster.until('a', isReady))).toMatchObject({
      Initialized: 'True',
      ContainersReady: 'True',
    });
  });

  it('of a job succeeds after a moment', async () => {
    cluster = await simulatedCluster();
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'x', controller: true }];
    await cluster.run('a', { spec: { restartPolicy: 'Never' }, metadata: { ownerReferences } });
    const pod = await cluster.until('a', ({ status }) => status.phase === 'Succeeded');
    expect(state(pod).state.terminated).toMatchObject({ exitCode: 0, reason: 'Completed' });
    expect(pod.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'PodCompleted' }),
    );
  });

  it('crashes by rule, is restarted with growing delays, and counts restarts beyond the cap', async () => {
    cluster = await simulatedCluster({
      rules: { pods: [{ match: { labels: 'app=bad' }, stages: { run: '2s exit 3' } }] },
    });
    await cluster.run('a', { metadata: { labels: { app: 'bad' } } });
    const crashed = await cluster.until('a', (pod) => state(pod)?.state.waiting?.reason === 'CrashLoopBackOff');
    expect(state(crashed)).toMatchObject({
      restartCount: 1,
      ready: false,
      lastState: { terminated: { exitCode: 3, reason: 'Error' } },
      state: {
        waiting: { message: expect.stringMatching(/^back-off 10s restarting failed container=c pod=a_default\(/) },
      },
    });
    expect(crashed.status.phase).toBe('Running');
    for (let hours = 0; hours < 40; hours++) await cluster.clock.advance(100_000);
    const pod = await cluster.pod('a');
    expect(state(pod).restartCount).toBe(5);
    expect(JSON.parse(pod.metadata.annotations['kubernetes.io/restart-counts']).c).toBeGreaterThan(5);
  });

  it('whose liveness probe fails is killed and restarted as often as the rule says, with events', async () => {
    cluster = await simulatedCluster({ rules: { pods: [{ stages: { liveness: { after: '20s', times: 2 } } }] } });
    const probed = { name: 'c', image: 'nginx:1.27', livenessProbe: { httpGet: { port: 80 } } };
    await cluster.run('a', { spec: { containers: [probed, { name: 'other', image: 'nginx:1.27' }] } });
    const again = await cluster.until('a', (pod) => state(pod)?.restartCount === 1 && state(pod).state.running);
    expect(state(again).lastState.terminated).toMatchObject({ exitCode: 137, reason: 'Error' });
    await cluster.until('a', (pod) => state(pod)?.restartCount === 2 && isReady(pod));
    for (let minutes = 0; minutes < 10; minutes++) await cluster.clock.advance(60_000);
    expect(isReady(await cluster.pod('a'))).toBe(true);
    expect([state(await cluster.pod('a')), state(await cluster.pod('a'), 'other')]).toMatchObject([
      { restartCount: 2 },
      { restartCount: 0 },
    ]);
    const { items } = await cluster.client.of(Event).in('default').list();
    const told = items.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
    expect(told).toContain('Warning Unhealthy Liveness probe failed: HTTP probe failed with statuscode: 503');
    expect(told).toContain('Normal Killing Container c failed liveness probe, will be restarted');
  });

  it('whose readiness probe fails for a while is not ready meanwhile, and keeps running', async () => {
    cluster = await simulatedCluster({ rules: { pods: [{ stages: { readiness: { after: '5s', for: '10s' } } }] } });
    const probed = { name: 'c', image: 'nginx:1.27', readinessProbe: { httpGet: { port: 80 } } };
    await cluster.run('a', { spec: { containers: [probed] } });
    await cluster.until('a', isReady);
    const unready = await cluster.until('a', (pod) => !isReady(pod));
    expect(state(unready)).toMatchObject({ ready: false, restartCount: 0, state: { running: {} } });
    await cluster.until('a', isReady);
    await cluster.until('a', (pod) => !isReady(pod));
    const annotations = { 'simulated.kubernetes.io/readiness': 'passes' };
    await cluster.client
      .of(Pod)
      .in('default')
      .patch('a', { type: 'merge', changes: { metadata: { annotations } } });
    await cluster.until('a', isReady);
    for (let seconds = 0; seconds < 60; seconds++) await cluster.clock.advance(1_000);
    expect(isReady(await cluster.pod('a'))).toBe(true);
  });

  it('that may not be restarted fails', async () => {
    cluster = await simulatedCluster({
      rules: { pods: [{ stages: { run: { takes: '1s', exitCode: 9, message: 'no disk' } } }] },
    });
    await cluster.run('a', { spec: { restartPolicy: 'Never' } });
    const pod = await cluster.until('a', ({ status }) => status.phase === 'Failed');
    expect(state(pod).state.terminated).toMatchObject({ exitCode: 9, reason: 'Error', message: 'no disk' });
  });

  it('whose image is missing reports it', async () => {
    cluster = await simulatedCluster({
      rules: { pods: [{ match: { images: '*:broken' }, stages: { pull: { fails: 'not found' } } }] },
    });
    await cluster.run('a', { spec: { containers: [{ name: 'c', image: 'x:broken' }] } });
    await cluster.until('a', (pod) => state(pod)?.state.waiting?.reason === 'ErrImagePull');
    await cluster.until('a', (pod) => state(pod)?.state.waiting?.reason === 'ImagePullBackOff');
    expect((await cluster.pod('a')).status.phase).toBe('Pending');
  });

  it('ends gracefully when it is deleted, and then is removed', async () => {
    cluster = await simulatedCluster({ rules: { pods: [{ stages: { stop: '5s' } }] } });
    await cluster.run('a');
    await cluster.until('a', isReady);
    const watch = await cluster.client.of(Pod).in('default').watch({ resourceVersion: '0' });
    await cluster.client.of(Pod).in('default').delete('a');
    await cluster.clock.advance(4_000);
    expect((await cluster.pod('a')).metadata.deletionTimestamp).toBeTruthy();
    expect(isReady(await cluster.pod('a'))).toBe(true);
    await gone('a');
    let last: any;
    for await (const { type, object } of watch) {
      last = object;
      if (type === 'DELETED') break;
    }
    expect(last.status.phase).toBe('Failed');
    expect(state(last).state.terminated).toMatchObject({ exitCode: 143 });
  });

  it('is killed when its grace period is over', async () => {
    cluster = await simulatedCluster({ rules: { pods: [{ stages: { stop: '1h' } }] } });
    await cluster.run('a', { spec: { terminationGracePeriodSeconds: 5 } });
    await cluster.until('a', isReady);
    // The deletion timestamp has whole seconds, which must not shorten the grace period.
    await cluster.clock.advance(1_900 - (cluster.clock.now() % 1_000));
    await cluster.client.of(Pod).in('default').delete('a');
    await cluster.clock.advance(4_950);
    expect(state(await cluster.pod('a')).state.running).toBeTruthy();
    await cluster.clock.advance(100);
    await gone('a');
  });

  it('releases its address, which another pod gets later', async () => {
    cluster = await simulatedCluster();
    const addresses: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      await cluster.run(name);
      addresses.push((await cluster.until(name, isReady)).status.podIP);
    }
    expect(new Set(addresses).size).toBe(3);
  });

  it('waits for its readiness gates', async () => {
    cluster = await simulatedCluster();
    await cluster.run('a', { spec: { readinessGates: [{ conditionType: 'example.com/feature' }] } });
    const pod = await cluster.until('a', ({ status }) => status.phase === 'Running');
    expect(pod.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady' }),
    );
    const open = [{ type: 'example.com/feature', status: 'True' }];
    await cluster.client
      .of(Pod)
      .in('default')
      .patchStatus('a', { type: 'strategic', changes: { status: { conditions: open } } });
    const ready = await cluster.until('a', isReady);
    expect(conditions(ready)['example.com/feature']).toBe('True');
  });

  it('that is active for too long fails', async () => {
    cluster = await simulatedCluster();
    await cluster.run('a', { spec: { activeDeadlineSeconds: 30 } });
    await cluster.until('a', isReady);
    await cluster.clock.advance(31_000);
    const pod = await cluster.until('a', ({ status }) => status.phase === 'Failed');
    expect(pod.status).toMatchObject({ reason: 'DeadlineExceeded' });
  });

  it('follows annotations that come later', async () => {
    cluster = await simulatedCluster();
    await cluster.run('a');
    await cluster.until('a', isReady);
    const annotations = { 'simulated.kubernetes.io/run': '0s exit 1' };
    await cluster.client
      .of(Pod)
      .in('default')
      .patch('a', { type: 'merge', changes: { metadata: { annotations } } });
    await cluster.until('a', (pod) => state(pod)?.state.waiting?.reason === 'CrashLoopBackOff');
  });

  it('whose image is changed is restarted with the new one', async () => {
    cluster = await simulatedCluster();
    await cluster.run('a');
    await cluster.until('a', isReady);
    const containers = [{ name: 'c', image: 'nginx:1.28' }];
    await cluster.client
      .of(Pod)
      .in('default')
      .patch('a', { type: 'strategic', changes: { spec: { containers } } });
    const pod = await cluster.until('a', (now) => state(now).image === 'nginx:1.28');
    expect(state(pod)).toMatchObject({ restartCount: 1, state: { running: {} } });
  });

  it('continues after a restart of the program, whatever its state', async () => {
    cluster = await simulatedCluster({ rules: { pods: [{ match: { names: 'job' }, stages: { run: '60s' } }] } });
    await cluster.run('a');
    await cluster.run('job', { spec: { restartPolicy: 'Never' } });
    await cluster.run('early');
    const before = await cluster.until('a', isReady);
    await cluster.until('job', isReady);
    await cluster.client.of(Pod).in('default').delete('early');
    await cluster.restart();
    await gone('early');
    await cluster.clock.advance(70_000);
    expect((await cluster.pod('a')).status).toEqual(before.status);
    expect((await cluster.pod('job')).status.phase).toBe('Succeeded');
    await cluster.run('b');
    expect((await cluster.until('b', isReady)).status.podIP).not.toBe(before.status.podIP);
    expect(cluster.complaints).toEqual([]);
  });
});
