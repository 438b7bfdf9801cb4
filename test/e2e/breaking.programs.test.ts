/** Tests what users see with kubectl when an application breaks on simulated nodes, and how they repair it. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { usualKubectls } from './kubectl.ts';
import { type Qd, startQd } from './program.ts';

let qd: Qd;
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'qd-breaking-'));
  qd = await startQd({ flags: ['--runtime', 'simulated', '--nodes', '3'] });
});
afterAll(async () => {
  await qd.stop();
  await rm(home, { recursive: true, force: true });
});

const POLLING = { timeout: 30_000, interval: 200 };

describe.each(usualKubectls)('with the $name kubectl', ({ name, program, isNewest }) => {
  const namespace = `with-${name}`;
  const cache = ['--cache-dir', `cache-${name}`];
  const outcome = (...args: string[]) =>
    new Promise<{ error: Error | null; stdout: string; stderr: string }>((resolve) => {
      const all = ['--kubeconfig', qd.kubeconfig, ...cache, '-n', namespace, ...args];
      execFile(program, all, { cwd: home }, (error, stdout, stderr) => resolve({ error, stdout, stderr }));
    });
  const kubectl = async (...args: string[]) => {
    const { error, stdout } = await outcome(...args);
    if (error) throw error;
    return stdout.trim();
  };
  const podsWith = async (state: string) =>
    (await kubectl('get', 'pods', '--no-headers')).split('\n').filter((line) => line.split(/ +/)[2] === state);
  /** Reasons and messages, in the order in which describe shows them. */
  const events = async (...what: string[]) => {
    const [, text = ''] = (await kubectl('describe', ...what)).split('\nEvents:');
    const row = /^ +(?:Normal|Warning) +(\S+) +\S+(?: \(x\d+ over \S+\))? +(?:kubelet|default-scheduler)\S* +(.*)$/gm;
    // The newest kubectl also names the container.
    const ofPart = isNewest ? /^spec\.containers\{nginx\}: / : '';
    return [...text.matchAll(row)].map(([, reason, message = '']) => `${reason}: ${message.replace(ofPart, '')}`);
  };
  const isOut = async () =>
    expect(await kubectl('rollout', 'status', 'deployment/web', '--timeout=30s')).toContain('successfully rolled out');

  test('a deployment is there', async () => {
    await kubectl('create', 'namespace', namespace);
    await kubectl('create', 'deployment', 'web', '--image=nginx:1.27');
    await kubectl('scale', 'deployment/web', '--replicas=3');
    await isOut();
  });

  test('an image that cannot be: the new pod waits, the others run on, and its events say why', async () => {
    await kubectl('set', 'image', 'deployment/web', 'nginx=nginx:1:27');
    await expect.poll(() => podsWith('InvalidImageName'), POLLING).toHaveLength(1);
    expect(await podsWith('Running')).toHaveLength(3);
    expect((await outcome('rollout', 'status', 'deployment/web', '--timeout=1s')).stderr).toContain('timed out');
    const [line = ''] = await podsWith('InvalidImageName');
    const [pod = ''] = line.split(' ');
    const why = `couldn't parse image name "nginx:1:27": invalid reference format`;
    expect(await events('pod', pod)).toEqual([
      expect.stringMatching(`^Scheduled: Successfully assigned ${namespace}/${pod} to `),
      `InspectFailed: Failed to apply default image tag "nginx:1:27": ${why}`,
      'Failed: Error: InvalidImageName',
    ]);
    await kubectl('rollout', 'undo', 'deployment/web');
    await isOut();
    expect(await podsWith('Running')).toHaveLength(3);
  });

  test('a crash: the pod is started again and again, and tells of it', async () => {
    const annotations = { 'simulated.kubernetes.io/run': '100ms exit 7' };
    await kubectl(
      'patch',
      'deployment/web',
      '-p',
      JSON.stringify({ spec: { template: { metadata: { annotations } } } }),
    );
    await expect.poll(() => podsWith('CrashLoopBackOff'), POLLING).not.toEqual([]);
    const [line = ''] = await podsWith('CrashLoopBackOff');
    const [pod = ''] = line.split(' ');
    const described = await kubectl('describe', 'pod', pod);
    expect(described).toMatch(
      /State: +Waiting\n +Reason: +CrashLoopBackOff\n +Last State: +Terminated\n +Reason: +Error\n/,
    );
    expect(described).toMatch(/Exit Code: +7\n/);
    const told = (await events('pod', pod)).map((event) => event.split(':')[0]);
    expect(told).toEqual(['Scheduled', 'Pulled', 'Created', 'Started', 'BackOff']);
    expect(await kubectl('logs', pod, '--previous')).toContain('is well, line 1');
    await kubectl('rollout', 'undo', 'deployment/web');
    await isOut();
  });

  test('a node that is closed says so, and when it is open again', async () => {
    const node = `quarterdeck-node-${isNewest ? 1 : 2}`;
    const last = async () => (await events('node', node)).at(-1);
    await kubectl('cordon', node);
    const closed = `NodeNotSchedulable: Node ${node} status is now: NodeNotSchedulable`;
    await expect.poll(last, POLLING).toBe(closed);
    await kubectl('uncordon', node);
    await expect.poll(last, POLLING).toBe(`NodeSchedulable: Node ${node} status is now: NodeSchedulable`);
    await kubectl('delete', 'namespace', namespace, '--timeout=30s');
  });
});

// A suite without any test is an error.
if (usualKubectls.length === 0) test.skip('there is no kubectl', () => {});
