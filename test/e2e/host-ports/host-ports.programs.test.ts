import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { writeImage } from '../../runtimes/world.ts';
import { freePort } from '../../support/free-port.ts';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';

type Runtime = 'process' | 'containerd';

interface Cluster {
  readonly directory: string;
  readonly image: string;
  qd: Qd;
}

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const programs = ['/usr/bin/containerd', '/usr/bin/ctr', '/usr/sbin/nft', '/usr/sbin/iptables-save', '/bin/busybox'];
const skip =
  isRoot && programs.every((file) => existsSync(file))
    ? undefined
    : 'containerd, nft, iptables and busybox are not installed, or this is not root';
if (skip) console.log(`skipped: ${skip}`);

const NAMESPACE = '/api/v1/namespaces/default';
const NODE = 'quarterdeck-node-1';
const TIMEOUT_MS = 90_000;
const RANGES: Readonly<Record<Runtime, readonly string[]>> = {
  process: ['--cluster-cidr', '10.243.64.0/20', '--service-cluster-ip-range', '10.125.64.0/24'],
  containerd: ['--cluster-cidr', '10.243.80.0/20', '--service-cluster-ip-range', '10.125.80.0/24'],
};
const RUNTIMES = ['process', 'containerd'] as const;

describe.skipIf(skip !== undefined)('host ports', () => {
  const clusters = new Map<Runtime, Cluster>();
  const of = (runtime: Runtime) => clusters.get(runtime)!;
  const start = (runtime: Runtime, directory: string, ...more: string[]) =>
    startQd({
      directory,
      flags: ['--nodes', '1', '--runtime', runtime, '--ingress=false', ...RANGES[runtime], ...more],
    });

  beforeAll(async () => {
    for (const runtime of RUNTIMES) {
      const directory = await newDirectory();
      const qd = await start(runtime, directory);
      clusters.set(runtime, { directory, qd, image: runtime === 'process' ? 'host' : 'pods:1' });
      await qd.until('/api/v1/nodes', ({ status }) => isReady(status));
    }
    const archive = join(of('containerd').directory, 'pods.tar');
    await writeImage(archive, { name: 'docker.io/library/pods:1', applets: ['httpd'] });
    const socket = join(of('containerd').directory, 'data', 'nodes', NODE, 'containerd', 'containerd.sock');
    await run('ctr', ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive]);
  }, TIMEOUT_MS);

  afterAll(async () => {
    for (const { qd, directory } of clusters.values()) {
      await qd.stop('SIGKILL');
      await runQd(['reset', '--yes', '--data-dir', join(directory, 'data')]);
      await rm(directory, { recursive: true, force: true });
    }
  }, TIMEOUT_MS);

  /** Creates a pod with a web server, and resolves with the pod when it runs or has failed. */
  async function pod(runtime: Runtime, name: string, port: object): Promise<any> {
    const { qd, image } = of(runtime);
    const command = [
      'sh',
      '-c',
      'mkdir -p /tmp/www; echo "the pod" > /tmp/www/index.html; exec busybox httpd -f -p 8080 -h /tmp/www',
    ];
    await qd.request('POST', `${NAMESPACE}/pods`, {
      body: {
        metadata: { name },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'c', image, command, ports: [{ containerPort: 8080, ...port }] }],
        },
      },
    });
    return qd.until(
      `${NAMESPACE}/pods`,
      ({ metadata, status }) => metadata.name === name && ['Running', 'Failed'].includes(status.phase),
    );
  }
  async function remove(runtime: Runtime, name: string): Promise<void> {
    await of(runtime).qd.request('DELETE', `${NAMESPACE}/pods/${name}?gracePeriodSeconds=0`);
    await of(runtime).qd.untilGone(`${NAMESPACE}/pods`, name);
  }
  /** The message of the event about the rejection. */
  async function rejection(runtime: Runtime, name: string, port: object): Promise<string> {
    const { status } = await pod(runtime, name, port);
    expect(status).toMatchObject({ phase: 'Failed', reason: 'PortInUse' });
    const event = await of(runtime).qd.until(
      `${NAMESPACE}/events`,
      ({ involvedObject, reason }) => involvedObject.name === name && reason === 'PortInUse',
    );
    expect(event.type).toBe('Warning');
    return event.message;
  }

  describe.each(RUNTIMES)('on %s', (runtime) => {
    const other: Runtime = runtime === 'process' ? 'containerd' : 'process';

    test(
      'the port of the API server is rejected, and the server stays reachable',
      async () => {
        const port = Number(new URL(of(runtime).qd.origin).port);
        expect(await rejection(runtime, 'takes-api', { hostPort: port })).toBe(
          `Port TCP/${port} of the node is in use by the API server`,
        );
        expect((await of(runtime).qd.request('GET', '/version')).code).toBe(200);
      },
      TIMEOUT_MS,
    );

    test(
      'the port of the agent and that of the DNS server are rejected',
      async () => {
        const { body } = await of(runtime).qd.request('GET', `/api/v1/nodes/${NODE}`);
        const agent = body.status.daemonEndpoints.kubeletEndpoint.Port;
        expect(await rejection(runtime, 'takes-agent', { hostPort: agent })).toContain(
          'in use by the agent of the node',
        );
        const endpoints = await of(runtime).qd.request('GET', '/api/v1/namespaces/kube-system/endpoints/kube-dns');
        const { port: dns } = endpoints.body.subsets[0].ports.find(({ protocol }: any) => protocol === 'UDP');
        expect(await rejection(runtime, 'takes-dns', { hostPort: dns, protocol: 'UDP' })).toContain(`UDP/${dns}`);
      },
      TIMEOUT_MS,
    );

    test(
      'ports that programs listen on are rejected, with the name of the program, except for other addresses',
      async () => {
        const all = createServer().listen(0, '0.0.0.0');
        const one = createServer().listen(0, '127.0.0.1');
        const udp = createSocket('udp4');
        udp.bind(0, '127.0.0.1');
        await Promise.all([all, one, udp].map((each) => once(each, 'listening')));
        const [anywhere, local] = [all, one].map((each) => (each.address() as AddressInfo).port) as [number, number];
        expect(await rejection(runtime, 'takes-all', { hostPort: anywhere })).toMatch(
          new RegExp(`^Port TCP/${anywhere} of the node is in use by the program \\S+ \\(process ${process.pid}\\)$`),
        );
        expect(await rejection(runtime, 'takes-one', { hostPort: anywhere, hostIP: '127.0.0.1' })).toContain('in use');
        expect(await rejection(runtime, 'takes-local', { hostPort: local })).toContain('in use');
        const datagrams = udp.address().port;
        expect(await rejection(runtime, 'takes-udp', { hostPort: datagrams, protocol: 'UDP' })).toContain(
          `UDP/${datagrams}`,
        );
        const elsewhere = await pod(runtime, 'other-address', { hostPort: local, hostIP: '127.0.0.2' });
        expect(elsewhere.status.phase).toBe('Running');
        await remove(runtime, 'other-address');
        for (const each of [all, one, udp]) each.close();
      },
      TIMEOUT_MS,
    );

    test(
      'a port that a pod of another cluster has is rejected',
      async () => {
        const hostPort = await freePort();
        expect((await pod(other, 'first', { hostPort })).status.phase).toBe('Running');
        expect(await rejection(runtime, 'second', { hostPort })).toContain(
          'a pod or a service of another cluster or node',
        );
        await vi.waitFor(async () => expect(await answerOf(hostPort)).toBe('the pod\n'), 10_000);
        await remove(other, 'first');
      },
      TIMEOUT_MS,
    );

    test(
      'a port that a service of another cluster has is rejected',
      async () => {
        const { body } = await of(other).qd.request('POST', `${NAMESPACE}/services`, {
          body: {
            metadata: { name: 'first' },
            spec: { type: 'NodePort', selector: { app: 'none' }, ports: [{ port: 80 }] },
          },
        });
        const hostPort = body.spec.ports[0].nodePort;
        // The rules of a new service come a moment later.
        await vi.waitFor(async () => {
          const { stdout } = await run('/usr/sbin/nft', ['list', 'ruleset']);
          expect(stdout).toContain(`tcp . ${hostPort} `);
        }, 60_000);
        expect(await rejection(runtime, 'node-port', { hostPort })).toContain(
          'a pod or a service of another cluster or node',
        );
        await of(other).qd.request('DELETE', `${NAMESPACE}/services/first`);
      },
      TIMEOUT_MS,
    );

    test(
      'a pod that runs already does not get the port that the API server has after a restart',
      async () => {
        const cluster = of(runtime);
        const hostPort = await freePort();
        expect((await pod(runtime, 'was-first', { hostPort })).status.phase).toBe('Running');
        await vi.waitFor(async () => expect(await answerOf(hostPort)).toBe('the pod\n'), 10_000);
        await cluster.qd.stop();
        cluster.qd = await start(runtime, cluster.directory, '--port', String(hostPort));
        await vi.waitFor(async () => {
          expect((await cluster.qd.request('GET', `${NAMESPACE}/pods/was-first`)).body.status.phase).toBe('Running');
        }, 30_000);
        await cluster.qd.until('/api/v1/nodes', ({ status }) => isReady(status));
        expect((await cluster.qd.request('GET', '/version')).code).toBe(200);
      },
      TIMEOUT_MS,
    );
  });
});

function isReady({ conditions = [] }: any): boolean {
  return conditions.some(({ type, status }: any) => type === 'Ready' && status === 'True');
}

async function answerOf(port: number): Promise<string> {
  const call = request({ host: '127.0.0.1', port, agent: false, timeout: 5_000 }).end();
  call.on('timeout', () => call.destroy(new Error('no answer')));
  const [response] = await once(call, 'response');
  return text(response);
}
