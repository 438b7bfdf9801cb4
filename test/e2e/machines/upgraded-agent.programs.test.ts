/** `qd upgrade` of an agent: its node becomes ready with another release, or the former one runs again; its pods go on. */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nextMinor } from '../../../src/api/release.ts';
import { processIdentity } from '../../../src/base/programs/process-identity.ts';
import { argumentsOf, runningPids } from '../../../src/base/programs/running-processes.ts';
import { type BuiltRelease, buildRelease, presentRelease } from '../../support/releases.ts';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';

const NODE = 'rack';
const NAMESPACE = '/api/v1/namespaces/default';
const NOBODY = 65_534;
const TIMEOUT_MS = 120_000;
/** Text in the arguments of the pod, by which its process is found. */
const MARK = `upgraded-${process.pid}`;
/** Root takes the part of another user. */
const user: { readonly uid?: number } = process.getuid?.() === 0 ? { uid: NOBODY } : {};

let qd: Qd;
let directory: string;
let data: string;
let folder: string;
let newer: BuiltRelease;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'qd-releases-'));
  await chmod(folder, 0o755);
  const present = await presentRelease();
  const release = { version: `${nextMinor(present.version)}.0`, level: present.level };
  newer = await buildRelease({ release }, join(folder, 'newer'));
  directory = await newDirectory();
  data = join(directory, 'agent');
  await chmod(directory, 0o777);
  qd = await startQd({ directory, flags: ['--bind-address', '0.0.0.0', '--nodes', '0'] });
  const { stdout } = await runQd(['token', 'create', '--kubeconfig', qd.kubeconfig]);
  const given = stdout.slice(stdout.indexOf('qd agent')).trim().split(/\s+/).slice(2);
  const flags = ['--node-name', NODE, '--runtime', 'process', '--allow-host-image'];
  expect(await run('agent', '--detach', '--data-dir', data, ...flags, ...given)).toMatchObject({ code: 0 });
  const container = { name: 'c', image: 'host', command: [process.execPath, '-e', 'setInterval(() => {}, 1e6)', MARK] };
  await qd.request('POST', `${NAMESPACE}/pods`, {
    body: { metadata: { name: 'web' }, spec: { containers: [container] } },
  });
  await qd.until(`${NAMESPACE}/pods`, ({ status }) => status.containerStatuses?.[0]?.state?.running);
}, 2 * TIMEOUT_MS);

afterAll(async () => {
  expect(await run('reset', '--yes', '--data-dir', data)).toMatchObject({ code: 0 });
  await qd?.stop();
  expect(await runQd(['reset', '--yes', '--data-dir', join(directory, 'data')])).toMatchObject({ code: 0 });
  for (const each of [directory, folder]) await rm(each, { recursive: true, force: true });
}, TIMEOUT_MS);

/** The agent is found by the name of its node: its directory is remembered in the home directory. */
const run = (...args: string[]) => runQd(args, { env: { HOME: directory, KUBECONFIG: '', QD_CLUSTER: '' }, ...user });
const listed = async () => JSON.parse((await run('list', '--json')).stdout).find(({ name }: any) => name === NODE);
const record = async () => JSON.parse(await readFile(join(data, 'upgrade.json'), 'utf8'));

/** The pod's processes, with the times of their starts, and how often the API says that it was restarted. */
async function podState(): Promise<object> {
  const pids = await runningPids();
  const marked = await Promise.all(pids.map(async (pid) => ((await argumentsOf(pid)).includes(MARK) ? [pid] : [])));
  const { body } = await qd.request('GET', `${NAMESPACE}/pods/web`);
  const [{ restartCount, containerID, state }] = body.status.containerStatuses;
  return {
    processes: await Promise.all(marked.flat().map(async (pid) => [pid, (await processIdentity(pid)).started])),
    container: { restartCount, containerID, state },
  };
}

const isReady = async () => {
  const { body } = await qd.request('GET', `/api/v1/nodes/${NODE}`);
  return body.status.conditions.find(({ type }: any) => type === 'Ready').status;
};

test(
  'an agent whose new release does not start goes on with the former one',
  async () => {
    const broken = join(folder, 'broken');
    await mkdir(broken);
    const described = { ...newer, name: 'quarterdeck', bin: { qd: 'qd.js' } };
    await writeFile(join(broken, 'package.json'), JSON.stringify(described));
    await writeFile(join(broken, 'qd.js'), 'process.exit(3);');
    const [before, pod] = [await listed(), await podState()];
    const { code, stderr } = await run('upgrade', broken, '--name', NODE);
    expect(stderr).toBe(
      `qd: the upgrade to ${newer.version} failed; agent of node "${NODE}" runs with ${before.version} as before\n`,
    );
    expect(code).toBe(1);
    expect(await record()).toMatchObject({ from: before.version, to: newer.version, state: 'rolled-back' });
    const after = await listed();
    expect(after).toMatchObject({ state: 'running', version: before.version });
    expect(after.pid).not.toBe(before.pid);
    expect(await podState()).toEqual(pod);
    expect(await isReady()).toBe('True');
  },
  TIMEOUT_MS,
);

test(
  'an agent that does not become ready in time goes on with the former release',
  async () => {
    const idle = join(folder, 'idle');
    await mkdir(idle);
    const described = { ...newer, name: 'quarterdeck', bin: { qd: 'qd.js' } };
    await writeFile(join(idle, 'package.json'), JSON.stringify(described));
    await writeFile(join(idle, 'qd.js'), 'setInterval(() => {}, 1e6);');
    const { version } = await listed();
    const { code, stderr } = await run('upgrade', idle, '--name', NODE, '--ready-timeout', '2s');
    expect([code, stderr]).toEqual([1, expect.stringContaining(`runs with ${version} as before`)]);
    expect(await listed()).toMatchObject({ state: 'running', version });
  },
  TIMEOUT_MS,
);

test(
  'an agent runs with the new release, with the same flags, and its pods go on',
  async () => {
    const [before, pod] = [await listed(), await podState()];
    const { code, stdout, stderr } = await run('upgrade', join(newer.dist, '..'), '--name', NODE);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(
      `Agent of node "${NODE}" runs with ${newer.version}, from ${newer.dist.replace('/dist', '')}`,
    );
    expect(await listed()).toMatchObject({ state: 'running', version: newer.version });
    expect(await record()).toMatchObject({ from: before.version, to: newer.version, state: 'succeeded' });
    expect(await podState()).toEqual(pod);
    expect(await isReady()).toBe('True');
  },
  TIMEOUT_MS,
);
