/** A cluster of simulated nodes as people see it with kubectl. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasKubectl, kubectlProgram } from './kubectl.ts';
import { type Qd, runQd, startQd } from './program.ts';

const RULES = `
pods:
  - match: { labels: app=chatty }
    stages:
      logs: { every: 50ms, lines: ['line {n} of {container}'] }
  - match: { labels: app=bad }
    stages: { run: 100ms exit 3 }
`;

let qd: Qd;
let folder: string;

const outcome = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  promisify(execFile)(kubectlProgram, ['--kubeconfig', qd.kubeconfig, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
const kubectl = async (...args: string[]) => {
  const { code, stdout, stderr } = await outcome(...args);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout.trim();
};
const run = async (name: string, app = name, ...flags: string[]) => {
  await kubectl('run', name, '--image=nginx:1.27', `--labels=app=${app}`, ...flags);
  await kubectl('wait', '--for=condition=ContainersReady', `pod/${name}`, '--timeout=30s');
};

describe.skipIf(!hasKubectl)('simulated nodes', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'qd-rules-'));
    await writeFile(join(folder, 'rules.yaml'), RULES);
    const flags = ['--runtime', 'simulated', '--nodes', '3', '--simulation', join(folder, 'rules.yaml')];
    qd = await startQd({ flags });
  });
  afterAll(async () => {
    await qd.stop();
    await rm(folder, { recursive: true });
  });

  test('are nodes like any others', async () => {
    const [head, ...nodes] = (await kubectl('get', 'nodes', '-o', 'wide')).split('\n');
    expect(head).toMatch(/^NAME +STATUS +ROLES +AGE +VERSION +INTERNAL-IP .*CONTAINER-RUNTIME$/);
    expect(nodes).toHaveLength(3);
    expect(nodes[0]).toMatch(
      /^quarterdeck-node-1 +Ready +<none> +\d+s +v1\.36\.\d\S* +100\.64\.0\.1 .* simulated:\/\//,
    );
    const described = await kubectl('describe', 'node', 'quarterdeck-node-2');
    expect(described).toMatch(/HolderIdentity: +quarterdeck-node-2/);
    expect(described).toMatch(/Ready +True .* KubeletReady +kubelet is posting ready status/);
    expect(described).toMatch(/PodCIDR: +10\.244\.1\.0\/24/);
    expect(described).toMatch(/Taints: +<none>/);
  });

  test('run deployments and jobs', async () => {
    await kubectl('create', 'deployment', 'web', '--image=nginx', '--replicas=5');
    expect(await kubectl('rollout', 'status', 'deployment/web', '--timeout=30s')).toContain('successfully rolled out');
    const pods = (await kubectl('get', 'pods', '-l', 'app=web', '-o', 'wide', '--no-headers')).split('\n');
    expect(pods).toHaveLength(5);
    for (const pod of pods) expect(pod).toMatch(/1\/1 +Running +0 +\d+s +10\.244\.\d\.\d+ +quarterdeck-node-\d/);
    expect(await kubectl('describe', 'pods', '-l', 'app=web')).toMatch(/Started +\d+s +kubelet +Container started/);
    await kubectl('create', 'job', 'sum', '--image=busybox');
    await kubectl('wait', '--for=condition=complete', 'job/sum', '--timeout=30s');
    await kubectl('delete', 'deployment', 'web', '--timeout=30s');
  });

  test('show the logs that are asked for', async () => {
    await run('chatty');
    expect(await kubectl('logs', 'chatty', '--limit-bytes=9')).toBe('line 1 of');
    expect(await kubectl('logs', 'chatty', '--tail=1')).toMatch(/^line \d+ of chatty$/);
    expect(await kubectl('logs', 'chatty', '--tail=1', '--timestamps')).toMatch(
      /^\d{4}-.*\.\d{9}Z line \d+ of chatty$/,
    );
    const following = spawn(kubectlProgram, ['--kubeconfig', qd.kubeconfig, 'logs', 'chatty', '--follow']);
    const ended = once(following, 'exit');
    const lines = createInterface({ input: following.stdout })[Symbol.asyncIterator]();
    // It is deleted only when the log is being followed.
    for (const expected of ['line 1 of chatty', 'line 2 of chatty']) expect((await lines.next()).value).toBe(expected);
    await kubectl('delete', 'pod', 'chatty');
    expect((await ended)[0]).toBe(0);
  });

  test('say why there is no log', async () => {
    await run('quiet');
    const why = async (...args: string[]) => (await outcome('logs', ...args)).stderr.trim();
    expect(await why('quiet', '--previous')).toBe(
      'Error from server (BadRequest): previous terminated container "quiet" in pod "quiet" not found',
    );
    expect(await why('quiet', '-c', 'other')).toContain('container other is not valid for pod quiet');
    expect(await why('absent')).toBe('Error from server (NotFound): pods "absent" not found');
    const asked = (query: string) => qd.request('GET', `/api/v1/namespaces/default/pods/quiet/log?${query}`);
    expect((await asked('tailLines=-1')).body).toMatchObject({
      code: 422,
      message: 'PodLogOptions "quiet" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    });
    expect((await asked('sinceTime=yesterday')).code).toBe(400);
    expect(await asked('sinceSeconds=-60')).toMatchObject({ code: 200, text: '' });
    expect((await asked('')).type).toBe('text/plain');
  });

  test('run nothing that one could connect to', async () => {
    await run('alone');
    const { code, stderr } = await outcome('exec', 'alone', '--', 'ls');
    expect(code).not.toBe(0);
    expect(stderr).toMatch(/BadRequest.*node "quarterdeck-node-\d" is simulated/);
  });

  test('let a pod crash by rule, and show its logs from before', async () => {
    await kubectl('run', 'bad', '--image=x', '--labels=app=bad');
    const state = ['-o', 'jsonpath={.status.containerStatuses[0].state.waiting.reason}'];
    await expect.poll(() => kubectl('get', 'pod', 'bad', ...state)).toBe('CrashLoopBackOff');
    expect(await kubectl('get', 'pod', 'bad', '--no-headers')).toMatch(/^bad +0\/1 +CrashLoopBackOff +1/);
    expect(await kubectl('logs', 'bad', '--previous')).toBe('bad of bad is well, line 1');
  });
});

test.each([
  [['--simulation', '/absent'], '--simulation /absent cannot be used'],
  [['--runtime', 'simulated', '--simulation', '/absent'], '--simulation /absent cannot be used'],
  [
    ['--runtime', 'simulated', '--nodes', '9', '--cluster-cidr', '10.0.0.0/27'],
    '--cluster-cidr: 10.0.0.0/27 has no room',
  ],
])('%j is rejected', async (flags, message) => {
  const home = await mkdtemp(join(tmpdir(), 'qd-flags-'));
  const where = ['--data-dir', join(home, 'data'), '--port', '0', '--kubeconfig', join(home, 'kubeconfig')];
  const { code, stderr } = await runQd(['up', ...where, '--store', 'memory', ...flags]);
  await rm(home, { recursive: true });
  expect(code).not.toBe(0);
  expect(stderr).toContain(message);
});
