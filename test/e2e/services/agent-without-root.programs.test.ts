/** Services of a machine that joined without root: they go on while its agent does not run. */
import type { ChildProcess } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, readlink, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processIdentity } from '../../../src/base/programs/process-identity.ts';
import { argumentsOf, runningPids } from '../../../src/base/programs/running-processes.ts';
import { freePort } from '../../support/free-port.ts';
import { newDirectory, type Qd, runQd, spawnProgram, startQd } from '../program.ts';

const NODE = 'rack';
const NAMESPACE = '/api/v1/namespaces/default';
const NOBODY = 65_534;
const TIMEOUT_MS = 60_000;
const SERVER = "require('http').createServer((_, answer) => answer.end('hello\\n')).listen(+process.env.PORT)";
/** Root takes the part of another user. */
const user: { readonly uid?: number } = process.getuid?.() === 0 ? { uid: NOBODY } : {};

let qd: Qd;
let directory: string;
let data: string;
let agent: ChildProcess | undefined;

beforeAll(async () => {
  directory = await newDirectory();
  data = join(directory, 'agent');
  await chmod(directory, 0o777);
  const flags = ['--bind-address', '0.0.0.0', '--nodes', '0'];
  qd = await startQd({ directory, flags });
}, TIMEOUT_MS);
afterAll(async () => {
  await end(agent, 'SIGKILL');
  const reset = await runQd(['reset', '--yes', '--data-dir', data], { env: { HOME: directory }, ...user });
  expect(reset).toMatchObject({ code: 0, stderr: '' });
  // DNS for the pods of agents goes on without the server.
  expect(await runQd(['reset', '--yes', '--data-dir', join(directory, 'data')])).toMatchObject({ code: 0 });
  await rm(directory, { recursive: true, force: true });
}, TIMEOUT_MS);

async function joinCluster(): Promise<ChildProcess> {
  const { stdout } = await runQd(['token', 'create', '--kubeconfig', qd.kubeconfig]);
  const given = stdout.slice(stdout.indexOf('qd agent')).trim().split(/\s+/).slice(2);
  const flags = ['--node-name', NODE, '--runtime', 'process', '--allow-host-image'];
  return startAgent([...flags, ...given]);
}

async function startAgent(flags: readonly string[]): Promise<ChildProcess> {
  const child = spawnProgram('qd', ['agent', '--data-dir', data, ...flags], { env: { HOME: directory }, ...user });
  let said = '';
  child.stdout?.setEncoding('utf8');
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: string) => chunk.includes('joined') && resolve());
    child.once('exit', (code) => reject(new Error(`qd agent ended with ${code}: ${said}`)));
  });
  return child;
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** The processes that name the directory of the agent, or work in it: its keeper, the network daemon, and supervisors. */
async function outliving(): Promise<readonly number[]> {
  const found = await Promise.all(
    (await runningPids()).map(async (pid) => {
      const works = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      return [works, ...(await argumentsOf(pid))].some((each) => each.startsWith(`${data}/`)) ? [pid] : [];
    }),
  );
  return found.flat();
}

const isRunning = async (pid: number) => (await processIdentity(pid)).started !== '';

const ask = (port: number) =>
  new Promise<string>((resolve, reject) => {
    get({ host: '127.0.0.1', port, agent: false }, (answer) => resolve(text(answer))).on('error', reject);
  });

async function publish(name: string, nodePort: number): Promise<void> {
  const ports = [{ port: 80, targetPort: 'http', nodePort }];
  await qd.request('POST', `${NAMESPACE}/services`, {
    body: { metadata: { name }, spec: { type: 'NodePort', selector: { app: 'web' }, ports } },
  });
}

test('a server without nodes serves DNS for the pods of agents', async () => {
  const system = '/api/v1/namespaces/kube-system';
  const { body: service } = await qd.request('GET', `${system}/services/kube-dns`);
  expect(service.spec.clusterIP).toMatch(/\.10$/);
  const { body: endpoints } = await qd.request('GET', `${system}/endpoints/kube-dns`);
  const [{ addresses, ports }] = endpoints.subsets;
  const resolver = new Resolver({ tries: 2 });
  resolver.setServers([`${addresses[0].ip}:${ports.find(({ name }: any) => name === 'dns').port}`]);
  const lookup = () => resolver.resolve4('kube-dns.kube-system.svc.cluster.local').catch(({ code }) => code);
  // The server answers names once it has read all Services.
  await expect.poll(lookup).toEqual([service.spec.clusterIP]);
  expect(qd.output()).not.toContain('the network daemon ended');
});

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'a node port answers while the agent is stopped by %s, and after its next start',
  async (signal) => {
    const nodePort = signal === 'SIGTERM' ? 31_713 : 31_714;
    agent ??= await joinCluster();
    if (signal === 'SIGTERM') {
      const port = await freePort();
      const container = {
        ...{ name: 'c', image: 'host', command: [process.execPath, '-e', SERVER] },
        env: [{ name: 'PORT', value: String(port) }],
        ports: [{ name: 'http', containerPort: port }],
        readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 },
      };
      await qd.request('POST', `${NAMESPACE}/pods`, {
        body: { metadata: { name: 'web', labels: { app: 'web' } }, spec: { containers: [container] } },
      });
    }
    await publish(signal.toLowerCase(), nodePort);
    await expect.poll(() => ask(nodePort).catch(String), { timeout: 20_000 }).toBe('hello\n');
    await end(agent, signal);
    expect(await ask(nodePort)).toBe('hello\n');
    // It remembers what it was told.
    agent = await startAgent([]);
    expect(await ask(nodePort)).toBe('hello\n');
    // The next agent goes on with the one that listens.
    await publish(`after-${signal.toLowerCase()}`, nodePort + 10);
    await expect.poll(() => ask(nodePort + 10).catch(String), { timeout: 20_000 }).toBe('hello\n');
    expect(await ask(nodePort)).toBe('hello\n');
  },
  TIMEOUT_MS,
);

describe('in the background', () => {
  const run = (...args: string[]) => runQd(args, { env: { HOME: directory, KUBECONFIG: '' }, ...user });
  const listed = async () => JSON.parse((await run('list', '--json')).stdout)[0];

  test(
    'an agent runs until qd down, which ends its pods',
    async () => {
      await end(agent, 'SIGTERM');
      const started = await run('agent', '--detach', '--data-dir', data);
      expect(started).toMatchObject({ code: 0, stderr: '' });
      expect(started.stdout).toContain(`Node ${NODE} is ready.`);
      expect(started.stdout).toContain(`log in ${join(data, 'qd.log')}`);
      expect(await listed()).toMatchObject({ kind: 'agent', name: NODE, state: 'running', directory: data });
      expect(await ask(31_713)).toBe('hello\n');
      const { pid } = await listed();
      const again = await run('agent', '--detach', '--data-dir', data);
      expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining(`in use by process ${pid}`) });
      const stopped = `Stopped agent of node "${NODE}" (process ${pid}).\nEnded 1 pod.\n`;
      expect(await run('down', '--name', NODE)).toMatchObject({ code: 0, stdout: stopped, stderr: '' });
      expect(await listed()).toMatchObject({ state: 'stopped' });
      expect(await ask(31_713).catch(({ code }) => code)).toBe('ECONNREFUSED');
      expect(await run('agent', '--detach', '--data-dir', data)).toMatchObject({ code: 0 });
      await expect.poll(() => ask(31_713).catch(String), { timeout: 20_000 }).toBe('hello\n');
      expect(await run('down', '--name', NODE, '--keep-pods')).toMatchObject({ code: 0 });
      expect(await ask(31_713)).toBe('hello\n');
    },
    TIMEOUT_MS,
  );

  test('an agent that cannot start leaves nothing, and the command says why', async () => {
    const other = join(directory, 'other');
    const { code, stderr } = await run('agent', '--detach', '--data-dir', other);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/^qd: --server is needed/) });
    expect(existsSync(other)).toBe(false);
    const down = await run('down');
    expect(down).toMatchObject({ code: 1, stderr: expect.stringContaining(`qd list shows: ${NODE} (agent)`) });
  });
});

test(
  'an agent ends the pods of an earlier one whose directory was removed',
  async () => {
    // It was left running, with the process that listens for it.
    expect(await ask(31_713)).toBe('hello\n');
    const left = await outliving();
    expect(left.length).toBeGreaterThan(2);
    await rm(data, { recursive: true, force: true });
    await qd.request('DELETE', `${NAMESPACE}/pods/web?gracePeriodSeconds=0`);
    await qd.request('DELETE', `/api/v1/nodes/${NODE}`);
    agent = await joinCluster();
    await expect.poll(async () => (await Promise.all(left.map(isRunning))).filter(Boolean)).toEqual([]);
    expect(await ask(31_713).catch(({ code }) => code)).toBe('ECONNREFUSED');
  },
  TIMEOUT_MS,
);

test('an agent whose node another machine has taken over ends, and says so', async () => {
  const isReady = ({ metadata, status }: any) =>
    metadata.name === NODE && status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');
  await qd.until('/api/v1/nodes', isReady);
  const ended = Promise.all([once(agent!, 'exit'), text(agent!.stderr!)]);
  const owner = { metadata: { annotations: { 'node.quarterdeck.io/owner': 'another' } } };
  const type = 'application/merge-patch+json';
  expect(await qd.request('PATCH', `/api/v1/nodes/${NODE}`, { body: owner, type })).toMatchObject({ code: 200 });
  const [[code], said] = await ended;
  expect(code).toBe(1);
  expect(said).toContain(
    `runs the node "${NODE}"; this machine does not run it any more. Its pods go on here: qd down`,
  );
}, 20_000);
