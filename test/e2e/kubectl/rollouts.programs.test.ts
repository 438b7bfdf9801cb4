/** Tests rollouts and rollbacks with kubectl. Nothing runs their pods here: the test marks them as running. */
import { beforeAll, expect, test } from 'vitest';
import { type Driver, withKubectl } from './driver.ts';

withKubectl((kubectl) => {
  beforeAll(() => standInForNode(kubectl));

  const rollout = (verb: string, ...args: string[]) => kubectl.run('rollout', verb, ...args);
  const history = async (what: string) =>
    (await kubectl.lines('rollout', 'history', what)).slice(2).map((line) => line.split(' ')[0]);
  const image = (what: string) => kubectl.run('get', what, '-o', 'jsonpath={.spec.template.spec.containers[0].image}');
  const podImages = (app: string) =>
    kubectl.run('get', 'pods', '-l', `app=${app}`, '-o', 'jsonpath={.items[*].spec.containers[0].image}');

  const daemonSetIsOut = async () => {
    const done = 'daemon set "agent" successfully rolled out';
    expect(await rollout('status', 'ds/agent', '--timeout=60s')).toContain(done);
  };
  const statefulSetIsOut = async () => {
    const done = 'partitioned roll out complete: 2 new pods have been updated';
    expect(await rollout('status', 'sts/db', '--timeout=60s')).toContain(done);
  };

  test('a daemon set is rolled out', async () => {
    const nodeSelector = { for: kubectl.namespace };
    await kubectl.run(
      'create',
      '-f',
      await kubectl.file('agent.json', workload('DaemonSet', 'agent', { nodeSelector })),
    );
    await daemonSetIsOut();
    expect(await kubectl.lines('get', 'ds/agent')).toEqual([
      expect.stringMatching(/^NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE NODE SELECTOR AGE$/),
      expect.stringMatching(new RegExp(`^agent 1 1 1 1 1 for=${kubectl.namespace} \\d+s$`)),
    ]);
    expect(await kubectl.run('describe', 'ds/agent')).toMatch(
      /SuccessfulCreate .*daemonset-controller +Created pod: agent-/,
    );
    await kubectl.run('set', 'image', 'ds/agent', 'main=nginx:1.28');
    await daemonSetIsOut();
    expect(await podImages('agent')).toBe('nginx:1.28');
    expect(await history('ds/agent')).toEqual(['1', '2']);
    expect(await rollout('history', 'ds/agent', '--revision=1')).toContain('nginx:1.27');
  });

  test('a daemon set is rolled back and restarted', async () => {
    expect(await rollout('undo', 'ds/agent')).toContain('rolled back');
    await daemonSetIsOut();
    expect(await podImages('agent')).toBe('nginx:1.27');
    expect(await history('ds/agent')).toEqual(['2', '3']);
    expect(await rollout('undo', 'ds/agent', '--to-revision=2')).toContain('rolled back');
    await daemonSetIsOut();
    expect(await image('ds/agent')).toBe('nginx:1.28');
    expect(await kubectl.fails('rollout', 'undo', 'ds/agent', '--to-revision=9')).toContain('revision');
    const before = await kubectl.run('get', 'pods', '-l', 'app=agent', '-o', 'name');
    expect(await rollout('restart', 'ds/agent')).toBe('daemonset.apps/agent restarted');
    await daemonSetIsOut();
    expect(await kubectl.run('get', 'pods', '-l', 'app=agent', '-o', 'name')).not.toBe(before);
    expect(await history('ds/agent')).toEqual(['3', '4', '5']);
  });

  test('a stateful set is rolled out', async () => {
    await kubectl.run('create', '-f', await kubectl.file('db.json', workload('StatefulSet', 'db')));
    await statefulSetIsOut();
    expect((await kubectl.lines('get', 'sts/db'))[1]).toMatch(/^db 2\/2 \d+s$/);
    expect(await kubectl.run('describe', 'sts/db')).toContain('Create Pod db-1 in StatefulSet db successful');
    await kubectl.run('set', 'image', 'sts/db', 'main=nginx:1.28');
    await statefulSetIsOut();
    expect(await podImages('db')).toBe('nginx:1.28 nginx:1.28');
    expect(await history('sts/db')).toEqual(['1', '2']);
    expect(await rollout('history', 'sts/db', '--revision=1')).toContain('nginx:1.27');
  });

  test('a stateful set is rolled back, restarted and made smaller', async () => {
    expect(await rollout('undo', 'sts/db')).toContain('rolled back');
    await statefulSetIsOut();
    expect(await podImages('db')).toBe('nginx:1.27 nginx:1.27');
    expect(await history('sts/db')).toEqual(['2', '3']);
    const before = await kubectl.run('get', 'pods', '-l', 'app=db', '-o', 'jsonpath={.items[*].metadata.uid}');
    expect(await rollout('restart', 'sts/db')).toBe('statefulset.apps/db restarted');
    await statefulSetIsOut();
    const after = await kubectl.run('get', 'pods', '-l', 'app=db', '-o', 'jsonpath={.items[*].metadata.uid}');
    expect(after.split(' ').every((uid) => !before.includes(uid))).toBe(true);
    await kubectl.run('scale', 'sts/db', '--replicas=1');
    // The older one complains when the pod is gone before it looks.
    await kubectl.outcome('wait', '--for=delete', 'pod/db-1', '--timeout=60s');
    expect(await kubectl.run('get', 'pods', '-l', 'app=db', '-o', 'name')).toBe('pod/db-0');
  });
});

function workload(kind: 'DaemonSet' | 'StatefulSet', name: string, pod: object = {}): object {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'nginx:1.27' }];
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers, ...pod } },
      ...(kind === 'StatefulSet' ? { replicas: 2, serviceName: name } : {}),
    },
  };
}

/**
 * Creates a separate node for the kubectl, and marks all pods in its namespace as running, or as gone, as long as the
 * server runs.
 */
async function standInForNode({ qd, namespace }: Driver): Promise<void> {
  const patch = { type: 'application/merge-patch+json' };
  await qd.request('POST', '/api/v1/nodes', { body: { metadata: { name: namespace, labels: { for: namespace } } } });
  await qd.request('PATCH', `/api/v1/nodes/${namespace}`, { ...patch, body: { spec: { taints: null } } });
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const changes = await qd.watch(`${pods}?watch=true`);
  const follow = async () => {
    for await (const { type, object } of changes) {
      const path = `${pods}/${object.metadata.name}`;
      if (type === 'DELETED') continue;
      if (object.metadata.deletionTimestamp) await qd.request('DELETE', `${path}?gracePeriodSeconds=0`);
      else if (object.status.phase !== 'Running') {
        const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: object.metadata.creationTimestamp }];
        await qd.request('PATCH', `${path}/status`, { ...patch, body: { status: { phase: 'Running', conditions } } });
      }
    }
  };
  follow().catch(() => undefined);
}
