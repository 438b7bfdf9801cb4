/** Tests deletion with kubectl: dependents, endpoints of services, and pods of a drained node. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Kubectl, usualKubectls } from '../kubectl.ts';
import { type Qd, startQd } from '../program.ts';
import { Driver, deployment } from './driver.ts';

const COUNT = 3;
/** kubectl waits 5 s after each eviction that is rejected: 17 s in all on an idle machine. */
const DRAIN_TIMEOUT_MS = 60_000;

// Simulated nodes are the same on every store.
describe.skipIf(usualKubectls.length === 0).each(usualKubectls)('the $name kubectl', (program: Kubectl) => {
  let qd: Qd;
  let home: string;
  const kubectl = new Driver(
    program,
    () => qd,
    () => home,
  );
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'qd-kubectl-'));
    qd = await startQd({ flags: ['--runtime', 'simulated', '--nodes', '2'] });
    await kubectl.start();
  });
  afterAll(async () => {
    await qd?.stop();
    await rm(home, { recursive: true, force: true });
  });

  const names = async (what: string) => {
    const text = await kubectl.run('get', what, '-l', 'app=web', '-o', 'name');
    return text === '' ? [] : text.split('\n');
  };
  const start = async () => {
    const web: any = deployment('web');
    web.spec.replicas = COUNT;
    await kubectl.run('create', '-f', await kubectl.file('web.json', web));
    await kubectl.run('rollout', 'status', 'deployment/web', '--timeout=60s');
  };
  /** Waits until objects are gone. `kubectl wait` fails when there is nothing left to wait for. */
  const gone = async (...what: string[]) => {
    while ((await kubectl.run('get', ...what, '-o', 'name')) !== '') {
      await kubectl.outcome('wait', '--for=delete', ...what, '--timeout=30s');
    }
  };

  test('background: what a deployment owns goes after it', async () => {
    await start();
    expect(await names('pods')).toHaveLength(COUNT);
    await kubectl.run('delete', 'deployment/web', '--cascade=background');
    await gone('pods', '-l', 'app=web');
    expect(await names('replicasets')).toEqual([]);
  });

  test('foreground: kubectl waits until all of it is gone', async () => {
    await start();
    await kubectl.run('delete', 'deployment/web', '--cascade=foreground', '--timeout=60s');
    expect(await names('replicasets')).toEqual([]);
    expect(await names('pods')).toEqual([]);
  });

  test('orphan: what it owned stays, and a new one takes it over', async () => {
    await start();
    const before = await names('pods');
    await kubectl.run('delete', 'deployment/web', '--cascade=orphan');
    const owners = 'jsonpath={.items[*].metadata.ownerReferences}';
    expect(await kubectl.run('get', 'replicasets', '-l', 'app=web', '-o', owners)).toBe('');
    expect(await names('pods')).toEqual(before);
    await start();
    expect(await names('pods')).toEqual(before);
    expect(await kubectl.run('get', 'replicasets', '-l', 'app=web', '-o', owners)).toContain('"kind":"Deployment"');
  });

  test('a service shows who is behind it', async () => {
    await kubectl.run('expose', 'deployment/web', '--port=80', '--target-port=8080');
    const ips = (await kubectl.run('get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[*].status.podIP}')).split(
      ' ',
    );
    const [, row = ''] = await kubectl.lines('get', 'endpoints', 'web').catch(() => warned('get', 'endpoints', 'web'));
    for (const ip of ips) expect(row).toContain(`${ip}:8080`);
    const slices = await kubectl.run('get', 'endpointslices', '-l', 'kubernetes.io/service-name=web', '-o', 'yaml');
    for (const ip of ips) expect(slices).toContain(`- ${ip}`);
    await kubectl.run('delete', 'service/web');
    await gone('endpointslices', '-l', 'kubernetes.io/service-name=web');
  });

  const warned = async (...args: string[]) =>
    (await kubectl.warned(...args)).split('\n').map((line) => line.trim().replace(/ {2,}/g, ' '));

  test(
    'drain: a budget is kept, and the node is empty in the end',
    async () => {
      const budget = {
        apiVersion: program.isNewest ? 'policy/v1' : 'policy/v1beta1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'web' },
        spec: { minAvailable: COUNT - 1, selector: { matchLabels: { app: 'web' } } },
      };
      const created = await kubectl.outcome('create', '-f', await kubectl.file('budget.json', budget));
      expect(created.code).toBe(0);
      const column = 'custom-columns=N:.spec.nodeName';
      const busy = new Set(await kubectl.lines('get', 'pods', '-l', 'app=web', '-o', column, '--no-headers'));
      const [node = ''] = busy;
      const { code, stdout, stderr } = await kubectl.outcome('drain', node, '--ignore-daemonsets', '--timeout=90s');
      expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/evicted|drained/), expect.any(String)]);
      await kubectl.run('rollout', 'status', 'deployment/web', '--timeout=60s');
      const left = await kubectl.lines('get', 'pods', '-l', 'app=web', '-o', column, '--no-headers');
      expect(left).toHaveLength(COUNT);
      expect(left).not.toContain(node);
      const taints = await kubectl.run('get', 'node', node, '-o', 'jsonpath={.spec.taints[*].key}');
      expect(taints).toBe('node.kubernetes.io/unschedulable');
      await kubectl.run('uncordon', node);
      const tighter = ['patch', 'pdb', 'web', '--type=merge', '-p', `{"spec":{"minAvailable":${COUNT}}}`];
      expect((await kubectl.outcome(...tighter)).code).toBe(0);
      const [other = ''] = left;
      const rejected = await kubectl.fails('drain', other, '--ignore-daemonsets', '--timeout=7s');
      expect(rejected).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
      await kubectl.run('uncordon', other);
    },
    DRAIN_TIMEOUT_MS,
  );
});
