/** Tests that an agent, and kubectl through a proxy, go on with another server when the one that they use is gone. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdMissing, TestEtcd } from '../../support/etcd.ts';
import { hasKubectl, kubectlProgram } from '../kubectl.ts';
import { newDirectory, type Qd, runQd, spawnProgram, startQd } from '../program.ts';
import { type Landscape, linksAt, openLandscape, untilPrints } from './landscape.ts';

const isInstalled = existsSync('/usr/sbin/nft') && process.getuid?.() === 0;
const skip = etcdMissing() ?? (isInstalled ? undefined : 'nft is not installed, or this is not root');
if (skip) console.log(`skipped: ${skip}`);

const NODE = 'node-c';
const LINKS = linksAt(232);
const TIMEOUT_MS = 120_000;
/** Time in which a person sees no pause. */
const PROXY_SWITCH_MS = 5_000;
const run = promisify(execFile);
/** Time after which a node without a server is lost. */
const LEASE_MS = 40_000;

describe.skipIf(skip !== undefined)('an agent in a cluster of two servers', () => {
  let landscape: Landscape;
  let directory: string;
  let etcd: TestEtcd;
  let first: Qd;
  let second: Qd;
  let agent: ChildProcess;

  const dataOf = (name: string) => join(directory, name, 'data');
  const startServer = (machine: 'a' | 'b') => {
    const ranges = ['--cluster-cidr', '10.218.0.0/16', '--service-cluster-ip-range', '10.217.0.0/16'];
    const store = ['--store', 'etcd', '--etcd-servers', etcd.endpoint, '--nodes', '0'];
    const key = machine === 'a' ? [] : ['--encryption-key-file', join(dataOf('a'), 'encryption.key')];
    const flags = [...store, ...ranges, ...key, '--bind-address', LINKS.addresses[machine]];
    return startQd({ directory: join(directory, machine), flags, enter: landscape.enter(machine) });
  };
  const startAgent = async (flags: readonly string[]) => {
    agent = spawnProgram('qd', ['agent', '--data-dir', join(directory, 'agent'), ...flags], {
      enter: landscape.enter('c'),
    });
    await untilPrints(agent, 'joined');
  };

  /** Creates a pod over a server, and returns the milliseconds until it runs. */
  const timeToRun = async (qd: Qd, name: string): Promise<number> => {
    const start = performance.now();
    const container = { name: 'c', image: 'host', command: ['sleep', '600'] };
    const spec = { nodeName: NODE, terminationGracePeriodSeconds: 0, containers: [container] };
    const { code } = await qd.request('POST', '/api/v1/namespaces/default/pods', {
      body: { metadata: { name }, spec },
    });
    expect(code).toBe(200);
    const isRunning = ({ metadata, status }: any) => metadata.name === name && status.phase === 'Running';
    await qd.until('/api/v1/namespaces/default/pods', isRunning);
    return performance.now() - start;
  };
  const readiness = async (qd: Qd) => {
    const { body } = await qd.request('GET', `/api/v1/nodes/${NODE}`);
    return body.status.conditions.find(({ type }: any) => type === 'Ready').status;
  };

  beforeAll(async () => {
    directory = await newDirectory();
    landscape = openLandscape(LINKS);
    etcd = await TestEtcd.start({ host: LINKS.own });
    first = await startServer('a');
    second = await startServer('b');
    const { stdout } = await runQd(['token', 'create', '--kubeconfig', first.kubeconfig]);
    const given = stdout.slice(stdout.indexOf('qd agent')).trim().split(/\s+/).slice(2);
    await startAgent([...given, '--node-name', NODE, '--runtime', 'process', '--allow-host-image']);
    await timeToRun(first, 'before');
  }, TIMEOUT_MS);

  afterAll(async () => {
    agent?.kill('SIGKILL');
    for (const qd of [first, second]) await qd?.stop('SIGKILL');
    await runQd(['reset', '--yes', '--data-dir', join(directory, 'agent')], { enter: landscape.enter('c') });
    for (const machine of ['a', 'b'] as const) {
      const flags = ['--yes', '--delete-encryption-key', '--data-dir', dataOf(machine)];
      await runQd(['reset', ...flags], { enter: landscape.enter(machine) });
    }
    await etcd?.remove();
    landscape?.close();
    await rm(directory, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test('trusts a new authority, and is trusted when the former one is forgotten', { timeout: TIMEOUT_MS }, async () => {
    const kept = join(directory, 'agent', 'pki', 'trusted.json');
    const a = { enter: landscape.enter('a') };
    expect(await runQd(['certs', 'rotate', 'authority', '--data-dir', dataOf('a')], a)).toMatchObject({ code: 0 });
    await expect.poll(() => existsSync(kept), { timeout: 60_000 }).toBe(true);
    expect(await runQd(['certs', 'forget', '--yes', '--data-dir', dataOf('a')], a)).toMatchObject({ code: 0 });
    // One after the other: each gets a new port, which the agent learns from the other one.
    await first.stop();
    first = await startServer('a');
    await expect.poll(async () => (await servers()).length).toBe(2);
    await second.stop();
    second = await startServer('b');
    expect(await timeToRun(first, 'after-rotation')).toBeLessThan(LEASE_MS);
  });

  test('goes on, and kubectl through a proxy, when the first server is killed', { timeout: TIMEOUT_MS }, async () => {
    const proxy = spawnProgram('qd', ['proxy', '--kubeconfig', first.kubeconfig, '--port', '0'], {});
    const [line] = await once(proxy.stdout!, 'data');
    const url = `http://${/Starting to serve on (\S+)/.exec(String(line))?.[1]}`;
    const words = ['--server', url, '--namespace', 'default'];
    const kubectl = (...more: string[]) => run(kubectlProgram, [...words, ...more]);
    if (hasKubectl) {
      const watch = spawn(kubectlProgram, [...words, 'get', 'configmaps', '--watch', '--output', 'name']);
      // What was listed comes before the watch: only an event shows that it has begun at the first server.
      await untilPrints(watch, 'configmap/kube-root-ca.crt');
      const watched = untilPrints(watch, 'configmap/before');
      await kubectl('create', 'configmap', 'before');
      await watched;
      const ended = once(watch, 'exit');
      await first.stop('SIGKILL');
      const killedAt = performance.now();
      expect((await kubectl('create', 'configmap', 'after')).stdout).toContain('created');
      expect((await kubectl('get', 'configmaps', '--output', 'name')).stdout).toContain('configmap/after');
      expect(performance.now() - killedAt).toBeLessThan(PROXY_SWITCH_MS);
      // The watch ended as one does whose time is up.
      expect(await ended).toEqual([0, null]);
    } else await first.stop('SIGKILL');
    proxy.kill();
    await once(proxy, 'exit');
    // Those that start now know the other server from the kubeconfig.
    const neverUsed = { env: { HOME: join(directory, 'other-home') } };
    const tokens = await runQd(['token', 'list', '--kubeconfig', first.kubeconfig], neverUsed);
    expect(tokens).toMatchObject({ code: 0, stdout: expect.stringContaining('authentication') });
    const next = spawnProgram('qd', ['proxy', '--kubeconfig', first.kubeconfig, '--port', '0'], neverUsed);
    const [printed] = await once(next.stdout!, 'data');
    const { status } = await fetch(`http://${/Starting to serve on (\S+)/.exec(String(printed))?.[1]}/version`);
    expect(status).toBe(200);
    next.kill();
    await once(next, 'exit');
    expect(await timeToRun(second, 'after-kill')).toBeLessThan(LEASE_MS / 2);
    expect(await readiness(second)).toBe('True');
  });

  test('starts while the server that it joined is gone, without flags', { timeout: TIMEOUT_MS }, async () => {
    agent.kill('SIGTERM');
    await once(agent, 'exit');
    await startAgent([]);
    expect(await timeToRun(second, 'after-start')).toBeLessThan(LEASE_MS / 2);
  });

  test('goes on when the server that it uses is killed', { timeout: TIMEOUT_MS }, async () => {
    first = await startServer('a');
    await expect.poll(async () => (await servers()).length).toBe(2);
    await second.stop('SIGKILL');
    expect(await timeToRun(first, 'after-second-kill')).toBeLessThan(LEASE_MS / 2);
  });

  test('goes on when its server is gone without a word', { timeout: TIMEOUT_MS }, async () => {
    second = await startServer('b');
    await expect.poll(async () => (await servers()).length).toBe(2);
    landscape.run('a', 'ip', 'link', 'set', 'eth0', 'down');
    expect(await timeToRun(second, 'after-silence')).toBeLessThan(LEASE_MS / 2);
    expect(await readiness(second)).toBe('True');
  });

  const servers = async (): Promise<string[]> => {
    const { body } = await first.request('GET', '/api/v1/namespaces/default/endpoints/kubernetes');
    return body.subsets.flatMap(({ addresses }: any) => addresses.map(({ ip }: any) => ip));
  };
});
