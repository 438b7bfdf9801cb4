/** Tests that an agent ends the pods of an earlier one whose data directory was removed. */
import type { ChildProcess } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { argumentsOf, runningPids } from '../../../src/base/programs/running-processes.ts';
import { newDirectory, type Qd, runQd, spawnProgram, startQd } from '../program.ts';
import { type Landscape, linksAt, openLandscape, untilPrints } from './landscape.ts';

const isInstalled = existsSync('/usr/sbin/nft') && existsSync('/usr/sbin/runc') && process.getuid?.() === 0;
const skip = isInstalled ? undefined : 'nft or runc is not installed, or this is not root';
if (skip) console.log(`skipped: ${skip}`);

const NODE = 'node-b';
const LINKS = linksAt(238);
const TIMEOUT_MS = 120_000;
const PODS = '/api/v1/namespaces/default/pods';

describe.skipIf(skip !== undefined)('an agent on a machine whose earlier agent lost its directory', () => {
  let landscape: Landscape;
  let directory: string;
  let qd: Qd;
  let agent: ChildProcess;
  let token: readonly string[];

  const startAgent = async (name: string) => {
    const flags = ['--data-dir', join(directory, name), '--node-name', NODE, '--runtime', 'process'];
    const args = ['agent', ...flags, '--allow-host-image', ...token];
    agent = spawnProgram('qd', args, { enter: landscape.enter('b') });
    await untilPrints(agent, 'is ready');
  };

  const runPod = async (name: string, seconds: string) => {
    const container = { name: 'c', image: 'host', command: ['sleep', seconds] };
    const spec = { nodeName: NODE, terminationGracePeriodSeconds: 0, containers: [container] };
    const { code } = await qd.request('POST', PODS, { body: { metadata: { name }, spec } });
    expect(code).toBe(200);
    const running = ({ metadata, status }: any) => metadata.name === name && status.phase === 'Running';
    await qd.until(PODS, running);
  };

  /** Ends the agent, removes its directory, and frees the name of the node. */
  const loseAgent = async (name: string) => {
    agent.kill('SIGKILL');
    await once(agent, 'exit');
    // Volumes in memory are mounted there: they stay, and rm says so.
    spawnSync('rm', ['-rf', join(directory, name)]);
    expect((await qd.request('DELETE', `/api/v1/nodes/${NODE}`)).code).toBe(200);
    // The next agent would run them again.
    expect((await qd.request('DELETE', `${PODS}?gracePeriodSeconds=0`)).code).toBe(200);
  };

  const sleeps = async (seconds: string) => {
    const commands = await Promise.all((await runningPids()).map(argumentsOf));
    return commands.some((args) => args.join(' ') === `sleep ${seconds}`);
  };
  /** Links of pods and bridges, and tables of nodes. */
  const traces = () => landscape.traces('b').filter((each) => /qd|quarterdeck/.test(each));
  const bridges = () => traces().filter((each) => each.startsWith('link qd-'));

  beforeAll(async () => {
    directory = await newDirectory();
    landscape = openLandscape(LINKS);
    const ranges = ['--cluster-cidr', '10.208.0.0/16', '--service-cluster-ip-range', '10.209.0.0/16'];
    const flags = ['--nodes', '0', ...ranges, '--bind-address', LINKS.addresses.a];
    qd = await startQd({ directory: join(directory, 'server'), flags, enter: landscape.enter('a') });
    const { stdout } = await runQd(['token', 'create', '--kubeconfig', qd.kubeconfig]);
    token = stdout.slice(stdout.indexOf('qd agent')).trim().split(/\s+/).slice(2);
    await startAgent('first');
  }, TIMEOUT_MS);

  afterAll(async () => {
    agent?.kill('SIGKILL');
    for (const name of ['first', 'second'])
      await runQd(['reset', '--yes', '--data-dir', join(directory, name)], { enter: landscape.enter('b') });
    await qd?.stop();
    await runQd(['reset', '--yes', '--data-dir', join(directory, 'server', 'data')], { enter: landscape.enter('a') });
    landscape?.close();
    await rm(directory, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test.each([
    ['in a new directory of the same path', 'first', 'first', '7101'],
    ['in another directory', 'first', 'second', '7102'],
  ])(
    '%s, ends the pods before it gives their addresses to others',
    async (_, lost, next, seconds) => {
      await runPod(`before-${seconds}`, seconds);
      expect(await sleeps(seconds)).toBe(true);
      await loseAgent(lost);
      expect(await sleeps(seconds)).toBe(true);
      await startAgent(next);
      expect(await sleeps(seconds)).toBe(false);
      expect(bridges()).toHaveLength(1);
      await runPod(`after-${seconds}`, `${seconds}0`);
      // Only the new pod has an address.
      const links = landscape.run('b', 'ip', '-o', 'link', 'show', 'type', 'veth').split('\n');
      expect(links.filter((line) => line.includes('master qd-'))).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  test(
    'leaves nothing but what it has itself',
    async () => {
      agent.kill('SIGTERM');
      await once(agent, 'exit');
      await runQd(['reset', '--yes', '--data-dir', join(directory, 'second')], { enter: landscape.enter('b') });
      expect(traces()).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
