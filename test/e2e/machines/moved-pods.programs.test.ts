/**
 * Tests `qd store migrate` under real pods, on the server's machine and on that of an agent: to an etcd of others, to an etcd of its own
 * with a second server, and back.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdMissing, TestEtcd } from '../../support/etcd.ts';
import { newDirectory, type Qd, runQd, spawnProgram, startQd } from '../program.ts';
import { type Landscape, linksAt, openLandscape, untilPrints } from './landscape.ts';

const isInstalled = existsSync('/usr/sbin/nft') && process.getuid?.() === 0;
const skip = etcdMissing() ?? (isInstalled ? undefined : 'nft is not installed, or this is not root');
if (skip) console.log(`skipped: ${skip}`);

const LINKS = linksAt(224);
const TIMEOUT_MS = 240_000;
const NODE = 'node-c';
const PODS = '/api/v1/namespaces/default/pods';
const CLIENT = readFileSync(join(import.meta.dirname, 'asks-for-version.cjs'), 'utf8');

describe.skipIf(skip !== undefined)('pods of a cluster whose objects are moved', () => {
  let landscape: Landscape;
  let directory: string;
  let etcd: TestEtcd;
  let qd: Qd;
  let second: Qd | undefined;
  let agent: ChildProcess;
  let started: readonly string[];

  const data = () => join(directory, 'a', 'data');
  const onServer = () => ({ enter: landscape.enter('a') });
  const migrate = async (...args: string[]) => {
    const { code, stdout, stderr } = await runQd(['store', 'migrate', '--data-dir', data(), ...args], onServer());
    expect(code, stdout + stderr).toBe(0);
    return stdout;
  };
  /** Identities of the containers, with how often they were restarted. */
  const containers = async (): Promise<readonly string[]> => {
    const { body } = await qd.request('GET', PODS);
    return body.items
      .filter(({ metadata }: any) => metadata.name.startsWith('client-'))
      .map(({ spec, status }: any) => {
        const [{ containerID, restartCount, ready }] = status.containerStatuses;
        return `${spec.nodeName} ${containerID} ${restartCount} ${ready}`;
      });
  };
  const createPod = async (name: string, nodeName: string, command: readonly string[]) => {
    const ca = { name: 'CA', valueFrom: { configMapKeyRef: { name: 'kube-root-ca.crt', key: 'ca.crt' } } };
    const containers = [{ name: 'c', image: 'host', command, env: [ca] }];
    const body = { metadata: { name }, spec: { nodeName, terminationGracePeriodSeconds: 0, containers } };
    expect((await qd.request('POST', PODS, { body })).code).toBe(200);
    const isRunning = ({ metadata, status }: any) => metadata.name === name && status.phase === 'Running';
    await qd.until(PODS, isRunning);
  };
  const nodes = async (): Promise<readonly string[]> =>
    (await qd.request('GET', '/api/v1/nodes')).body.items.map(({ metadata }: any) => metadata.name);
  /** Both nodes are Ready, all containers are those of the start, their calls reach the API, and a new pod runs on each. */
  const checkPods = async (round: string) => {
    for (const node of await nodes()) await createPod(`${round}-${node}`, node, ['sleep', '600']);
    expect(await containers()).toEqual(started);
    for (const node of await nodes()) {
      const lastCall = async () => (await qd.request('GET', `${PODS}/client-${node}/log?tailLines=1`)).text.trim();
      await expect.poll(lastCall, { timeout: 30_000 }).toBe('200');
    }
  };

  beforeAll(async () => {
    directory = await newDirectory();
    landscape = openLandscape(LINKS);
    etcd = await TestEtcd.start({ host: LINKS.own });
    const ranges = ['--cluster-cidr', '10.226.0.0/16', '--service-cluster-ip-range', '10.227.0.0/16'];
    const flags = [
      '--nodes',
      '1',
      '--runtime',
      'process',
      '--allow-host-image',
      ...ranges,
      '--bind-address',
      LINKS.addresses.a,
    ];
    qd = await startQd({ directory: join(directory, 'a'), flags: ['--port', '6443', ...flags], ...onServer() });
    const { stdout } = await runQd(['token', 'create', '--kubeconfig', qd.kubeconfig]);
    const given = stdout.slice(stdout.indexOf('qd agent')).trim().split(/\s+/).slice(2);
    const ofAgent = ['--data-dir', join(directory, 'agent'), '--node-name', NODE, '--runtime', 'process'];
    agent = spawnProgram('qd', ['agent', ...ofAgent, '--allow-host-image', ...given], { enter: landscape.enter('c') });
    await untilPrints(agent, 'joined');
    await qd.until('/api/v1/nodes', ({ metadata, status }) => {
      const ready = status.conditions?.find(({ type }: any) => type === 'Ready');
      return metadata.name === NODE && ready?.status === 'True';
    });
    for (const node of await nodes()) await createPod(`client-${node}`, node, [process.execPath, '-e', CLIENT]);
    started = await containers();
  }, TIMEOUT_MS);

  afterAll(async () => {
    agent?.kill('SIGTERM');
    if (agent && agent.exitCode === null) await once(agent, 'exit');
    await runQd(['reset', '--yes', '--data-dir', join(directory, 'agent')], { enter: landscape.enter('c') });
    for (const server of [second, qd]) await server?.stop();
    await runQd(['reset', '--yes', '--data-dir', join(directory, 'b', 'data')], { enter: landscape.enter('b') });
    await runQd(['reset', '--yes', '--delete-encryption-key', '--data-dir', data()], onServer());
    await etcd?.remove();
    landscape?.close();
    await rm(directory, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test('go on, with an etcd of others and without it', { timeout: TIMEOUT_MS }, async () => {
    expect(started).toHaveLength(2);
    await migrate('--to', 'etcd', '--etcd-servers', etcd.endpoint);
    await checkPods('external');
    await migrate('--to', 'embedded');
    await checkPods('embedded');
  });

  test('go on, with an etcd of its own, a second server, and without both', { timeout: TIMEOUT_MS }, async () => {
    await migrate('--to', 'etcd', '--ha', '--bind-address', LINKS.addresses.a);
    const { stdout } = await runQd(['token', 'create', '--server', '--data-dir', data()], onServer());
    const given = stdout.slice(stdout.indexOf('qd up')).trim().split(/\s+/).slice(2);
    const flags = ['--port', '6443', '--server-name', 'second', '--nodes', '0', ...given];
    second = await startQd({ directory: join(directory, 'b'), flags, enter: landscape.enter('b') });
    await checkPods('own');
    const removed = await runQd(['server', 'remove', 'second', '--data-dir', data()], onServer());
    expect(removed).toMatchObject({ code: 0 });
    // At once: the lease of the other server may not have ended yet.
    expect(await migrate('--to', 'embedded')).toContain('writes waited for');
    await checkPods('back');
  });
});
