/** The shop of `examples/`, as its README has it: applied with kubectl and asked over HTTP from the host, on both real runtimes. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { ownFiles } from '../../../src/cli/image/own-files.ts';
import { buildImage } from '../../../src/node/images/build/build-image.ts';
import { hasKubectl, kubectlProgram } from '../kubectl.ts';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';
import { ask } from './ask.ts';
import { ingressTests } from './ingress.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const TIMEOUT_MS = 120_000;
const isRoot = process.getuid?.() === 0;
const RUNTIMES = [
  {
    runtime: 'containerd',
    needs: ['/usr/bin/containerd', '/usr/sbin/nft'],
    clusterCidr: '10.250.0.0/16',
    services: 50,
  },
  { runtime: 'process', needs: ['/usr/sbin/nft', '/usr/sbin/ip'], clusterCidr: '10.251.0.0/16', services: 51 },
] as const;

for (const { runtime, needs, clusterCidr, services } of RUNTIMES) {
  const canRun = isRoot && hasKubectl && needs.every((file) => existsSync(file));
  if (!canRun) console.log(`skipped: kubectl or one of ${needs.join(', ')} is not installed, or this is not root`);
  describe.skipIf(!canRun)(`the shop on ${runtime}`, () => {
    let qd: Qd;
    let nodePort: string;
    let ports: { http: number; https: number };
    const kubectl = async (...args: string[]) => {
      const all = ['--kubeconfig', qd.kubeconfig, ...args];
      return (await promisify(execFile)(kubectlProgram, all, { cwd: ROOT })).stdout;
    };
    const overNodePort = (path: string, body?: string) => ask({ port: Number(nodePort), path, body });
    const overIngress = (path: string) => ask({ port: ports.http, path, headers: { host: 'shop.localhost' } });

    beforeAll(async () => {
      const directory = await newDirectory();
      const ranges = ['--cluster-cidr', clusterCidr, '--service-cluster-ip-range', `10.98.${services}.0/24`];
      // As `qd image build` makes it, but not compressed, which takes most of its time.
      const archive = join(directory, 'shop.tar');
      const files = await ownFiles({ node: process.execPath, packageFolder: ROOT });
      const config = { env: ['PATH=/usr/local/bin:/usr/bin:/bin'] };
      const built = buildImage({ name: 'shop:1', architecture: process.arch, files, config }, archive);
      qd = await startQd({ directory, flags: ['--nodes', '1', '--runtime', runtime, ...ranges] });
      const [, http = '', https = ''] = /^ingress +http:\S+:(\d+), https:\S+:(\d+)/m.exec(qd.output()) ?? [];
      ports = { http: Number(http), https: Number(https) };
      await built;
      await qd.until('/api/v1/nodes', ({ status }) => isTrue(status, 'Ready'));
      await runQd(['image', 'load', archive, '--data-dir', join(directory, 'data')]);
      await rm(archive);
      await kubectl('apply', '-f', 'examples/shop');
      await kubectl('-n', 'shop', 'wait', '--for=condition=available', 'deployment', '--all', '--timeout=90s');
      nodePort = await kubectl('-n', 'shop', 'get', 'service', 'web', '-o', 'jsonpath={.spec.ports[0].nodePort}');
    }, TIMEOUT_MS);

    afterAll(async () => {
      await qd?.stop();
      if (!qd) return;
      await runQd(['reset', '--yes', '--data-dir', join(qd.directory, 'data')]);
      await rm(qd.directory, { recursive: true, force: true });
    }, TIMEOUT_MS);

    test('is served over a node port and an Ingress, through all tiers', async () => {
      expect(await overNodePort('/orders', '{"item":"tea"}')).toMatchObject({ status: 200, text: '{"item":"tea"}' });
      for (const asked of [overNodePort('/'), overIngress('/')]) {
        const { status, text } = await asked;
        expect(status).toBe(200);
        expect(text).toMatch(/<h1>The corner shop<\/h1><ul><li>tea<\/li><\/ul><p>served by web-/);
      }
      const pods = new Set<string>();
      for (let i = 0; i < 30; i++) pods.add(String((await overNodePort('/healthz')).headers['x-pod']));
      expect(pods.size).toBe(3);
    });

    test(
      'a policy cuts the front end off from the database, and nothing else',
      async () => {
        expect(await overNodePort('/database')).toMatchObject({ status: 200, text: 'ok\n' });
        await kubectl('apply', '-f', 'examples/shop/policy');
        // The rules follow a moment later.
        const rejected = async () => expect((await overNodePort('/database')).text).toMatch(/^TimeoutError/);
        await vi.waitFor(rejected, 10_000);
        for (const asked of [overNodePort('/'), overIngress('/')]) {
          expect(await asked).toMatchObject({ status: 200, text: expect.stringContaining('<li>tea</li>') });
        }
        await kubectl('delete', '-f', 'examples/shop/policy');
        await vi.waitFor(async () => expect((await overNodePort('/database')).status).toBe(200), 10_000);
      },
      TIMEOUT_MS,
    );

    test(
      'orders outlive the pod of the database',
      async () => {
        await kubectl('-n', 'shop', 'rollout', 'restart', 'deployment/database');
        await kubectl('-n', 'shop', 'rollout', 'status', 'deployment/database');
        await vi.waitFor(async () => expect((await overNodePort('/')).text).toContain('<li>tea</li>'), 10_000);
      },
      TIMEOUT_MS,
    );

    test(
      'a policy holds for pods that are created after it',
      async () => {
        const post = (path: string, body: object) => qd.request('POST', path, { body });
        await post('/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies', {
          metadata: { name: 'locked-in' },
          spec: { podSelector: { matchLabels: { app: 'locked-in' } }, policyTypes: ['Egress'] },
        });
        const { body } = await qd.request('GET', '/api/v1/namespaces/shop/pods?labelSelector=tier%3Ddatabase');
        const address: string = body.items[0].status.podIP;
        const program = `
          const socket = require('net').connect({ host: '${address}', port: 5432, timeout: 500 });
          const say = (text) => { console.log(text); process.exit(); };
          socket.on('connect', () => say('reached')).on('timeout', () => say('rejected'));
        `;
        const names = ['first', 'second', 'third'].map((name) => `locked-in-${name}`);
        await Promise.all(
          names.map((name) =>
            post('/api/v1/namespaces/shop/pods', {
              metadata: { name, labels: { app: 'locked-in' } },
              spec: {
                restartPolicy: 'Never',
                containers: [{ name: 'c', image: 'shop:1', command: ['node', '-e', program] }],
              },
            }),
          ),
        );
        for (const name of names) {
          await qd.until(
            '/api/v1/namespaces/shop/pods',
            ({ metadata, status }) => metadata.name === name && status.phase === 'Succeeded',
          );
          const { text } = await qd.request('GET', `/api/v1/namespaces/shop/pods/${name}/log`);
          expect(text).toBe('rejected\n');
        }
      },
      TIMEOUT_MS,
    );

    // The proxy is the same on every runtime.
    if (runtime === 'process') ingressTests({ qd: () => qd, ports: () => ports });
  });
}

const isTrue = (status: any, type: string) =>
  status.conditions?.some((each: any) => each.type === type && each.status === 'True');
