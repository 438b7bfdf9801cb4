/** Tests pods, services, DNS and policies across machines, and leftovers on them. */
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { writeImage } from '../../runtimes/world.ts';
import { newDirectory, type Qd, runQd, spawnProgram, startQd } from '../program.ts';
import { type Landscape, linksAt, type MachineName, openLandscape, untilPrints } from './landscape.ts';

const isInstalled = ['/usr/sbin/nft', '/usr/sbin/bridge'].every((file) => existsSync(file));
const skip =
  process.getuid?.() === 0 && isInstalled ? undefined : 'nft or bridge is not installed, or this is not root';
if (skip) console.log(`skipped: ${skip}`);

/** Runtime of the tests; another one can be chosen by hand. With containers, their program comes from the machine. */
const runtime = process.env.QD_TEST_RUNTIME ?? 'process';
const hasContainers = runtime === 'containerd';
const image = hasContainers ? 'pods:1' : 'host';
const NODE = ['--runtime', runtime, '--allow-host-image'];
const HOST_PATHS = { usr: ['/usr', '/usr'], lib: ['/usr/lib', '/lib'], lib64: ['/usr/lib64', '/lib64'] } as const;
const volumes = Object.entries(HOST_PATHS).map(([name, [path]]) => ({ name, hostPath: { path } }));
const volumeMounts = Object.entries(HOST_PATHS).map(([name, [, mountPath]]) => ({ name, mountPath, readOnly: true }));

const NAMESPACE = '/api/v1/namespaces/default';
const NODES = { a: 'quarterdeck-node-1', b: 'node-b', c: 'node-c' } as const;
const MACHINES = ['a', 'b', 'c'] as const;
const LINKS = linksAt(230);
const ADDRESSES = LINKS.addresses;
const TIMEOUT_MS = 120_000;
const BIG_BYTES = 1_000_000;

/** Answers with its name and the address of the client; asks others, and looks up names, for the test. */
const PROGRAM = `
  process.on('SIGTERM', () => process.exit());
  const get = (url, done) => require('http').get(url, { timeout: 3000, agent: false }, (answer) => {
    let text = '';
    answer.on('data', (chunk) => (text += chunk)).on('end', () => done(text));
  }).on('timeout', function () { this.destroy(new Error('timeout')); }).on('error', (error) => done('error ' + error.message));
  require('http').createServer((asked, answer) => {
    const { pathname, searchParams } = new URL(asked.url, 'http://x');
    switch (pathname) {
      case '/get': return get(searchParams.get('url'), (text) => answer.end(text));
      case '/lookup': return require('dns').lookup(searchParams.get('name'), (error, address) => answer.end(String(error ?? address)));
      case '/big': return answer.end('x'.repeat(${BIG_BYTES}));
      case '/env': return answer.end(process.env[searchParams.get('name')] ?? '');
      default: answer.end(process.env.NAME + ' ' + asked.socket.remoteAddress.replace('::ffff:', ''));
    }
  }).listen(8080);
`;

describe.skipIf(skip !== undefined)('a cluster on three machines', () => {
  let landscape: Landscape;
  let qd: Qd;
  let directory: string;
  const agents = new Map<MachineName, ChildProcess>();
  const addresses = new Map<MachineName, string>();
  let clusterIP: string;
  let joinCommand: string[];
  let nodePort: number;

  const dataOf = (machine: MachineName) => join(directory, machine === 'a' ? 'data' : machine);
  /** Returns the answer of a machine's pod. */
  const ask = async (machine: MachineName, path: string) =>
    (await qd.request('GET', `${NAMESPACE}/pods/pod-${machine}:8080/proxy${path}`)).text;
  const get = (machine: MachineName, url: string) => ask(machine, `/get?url=${encodeURIComponent(url)}`);
  const podUrl = (machine: MachineName) => `http://${addresses.get(machine)}:8080/`;
  const run = (machine: MachineName) =>
    qd.request('POST', `${NAMESPACE}/pods`, {
      body: {
        metadata: { name: `pod-${machine}`, labels: { app: 'web', machine } },
        spec: {
          nodeName: NODES[machine],
          terminationGracePeriodSeconds: 0,
          ...(hasContainers ? { volumes } : {}),
          containers: [
            {
              ...{ name: 'c', image, command: [process.execPath, '-e', PROGRAM] },
              ...(hasContainers ? { volumeMounts } : {}),
              env: [{ name: 'NAME', value: `pod-${machine}` }],
            },
          ],
        },
      },
    });

  /** Puts the image onto the node. */
  const load = async (machine: MachineName) => {
    await qd.until(
      '/api/v1/nodes',
      ({ metadata, status }) =>
        metadata.name === NODES[machine] &&
        status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True'),
    );
    const node = join(dataOf(machine), 'nodes', NODES[machine]);
    const archive = join(node, 'pods.tar');
    await writeImage(archive, { name: 'docker.io/library/pods:1' });
    const socket = join(node, 'containerd', 'containerd.sock');
    execFileSync('ctr', ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive]);
  };

  beforeAll(async () => {
    directory = await newDirectory();
    landscape = openLandscape(LINKS);
    const ranges = ['--cluster-cidr', '10.230.0.0/16', '--service-cluster-ip-range', '10.229.0.0/16'];
    const flags = [...NODE, '--nodes', '1', '--bind-address', ADDRESSES.a, ...ranges];
    qd = await startQd({ directory, flags, enter: landscape.enter('a') });
    const { stdout } = await runQd(['token', 'create', '--kubeconfig', qd.kubeconfig]);
    joinCommand = stdout.slice(stdout.indexOf('qd agent')).trim().split(/\s+/).slice(1);
    for (const machine of ['b', 'c'] as const) {
      const own = [...NODE, '--node-name', NODES[machine], '--data-dir', dataOf(machine)];
      const agent = spawnProgram('qd', [...joinCommand, ...own], { enter: landscape.enter(machine) });
      agents.set(machine, agent);
      await untilPrints(agent, 'joined');
    }
    const spec = { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] };
    const { body } = await qd.request('POST', `${NAMESPACE}/services`, { body: { metadata: { name: 'web' }, spec } });
    clusterIP = body.spec.clusterIP;
    nodePort = body.spec.ports[0].nodePort;
    if (hasContainers) for (const machine of MACHINES) await load(machine);
    for (const machine of MACHINES) await run(machine);
    for (const machine of MACHINES) {
      const { status } = await qd.until(
        `${NAMESPACE}/pods`,
        ({ metadata, status: { conditions } }) =>
          metadata.name === `pod-${machine}` &&
          conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True'),
      );
      addresses.set(machine, status.podIP);
    }
  }, TIMEOUT_MS);

  afterAll(async () => {
    for (const agent of agents.values()) agent.kill('SIGKILL');
    await qd?.stop('SIGKILL');
    for (const machine of MACHINES) {
      await runQd(['reset', '--yes', '--data-dir', dataOf(machine)], { enter: landscape.enter(machine) });
    }
    landscape?.close();
    await rm(directory, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test.each(MACHINES.flatMap((from) => MACHINES.filter((to) => to !== from).map((to) => [from, to] as const)))(
    'a pod on %s reaches one on %s, and is seen with its own address',
    async (from, to) => {
      await vi.waitFor(async () => {
        expect(await get(from, podUrl(to))).toBe(`pod-${to} ${addresses.get(from)}`);
      }, 10_000);
    },
    TIMEOUT_MS,
  );

  test('packets go over the shared link, and through a tunnel to the other one', () => {
    const routes = landscape.run('a', 'ip', 'route', 'show', 'proto', '150');
    expect(routes).toMatch(new RegExp(`via ${ADDRESSES.b} dev eth0`));
    expect(routes).toMatch(/dev qdx\w+ .*onlink/);
  });

  test.each(MACHINES)(
    'a pod on %s finds the service by name and by variables, and reaches all its endpoints',
    async (machine) => {
      await vi.waitFor(async () => expect(await ask(machine, '/lookup?name=web')).toBe(clusterIP), 10_000);
      expect(await ask(machine, '/env?name=WEB_SERVICE_HOST')).toBe(clusterIP);
      const seen = new Set<string>();
      await vi.waitFor(async () => {
        seen.add((await get(machine, 'http://web/')).split(' ')[0]!);
        expect([...seen].sort()).toEqual(['pod-a', 'pod-b', 'pod-c']);
      }, 15_000);
    },
    TIMEOUT_MS,
  );

  test('a large answer passes the tunnel', { timeout: TIMEOUT_MS }, async () => {
    expect(await get('c', `${podUrl('a')}big`)).toHaveLength(BIG_BYTES);
    expect(await get('b', `${podUrl('c')}big`)).toHaveLength(BIG_BYTES);
  });

  test.each(MACHINES)(
    'the node port of %s leads to the pods of all machines',
    async (machine) => {
      const seen = new Set<string>();
      await vi.waitFor(() => {
        // Seen from another machine, on another link for some.
        const from = machine === 'c' ? 'b' : 'c';
        const url = `http://${ADDRESSES[machine]}:${nodePort}/`;
        seen.add(landscape.run(from, 'curl', '-s', '-m', '3', url).split(' ')[0]!);
        expect([...seen].sort()).toEqual(['pod-a', 'pod-b', 'pod-c']);
      }, 15_000);
    },
    TIMEOUT_MS,
  );

  test('agents enforce policies by the labels of pods on other machines', { timeout: TIMEOUT_MS }, async () => {
    const policies = '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies';
    const from = [{ podSelector: { matchLabels: { machine: 'a' } } }];
    const body = {
      metadata: { name: 'only-a' },
      spec: { podSelector: { matchLabels: { machine: 'c' } }, ingress: [{ from }] },
    };
    await qd.request('POST', policies, { body });
    await vi.waitFor(async () => expect(await get('b', podUrl('c'))).toBe('error timeout'), 20_000);
    expect(await get('a', podUrl('c'))).toBe(`pod-c ${addresses.get('a')}`);
    await qd.request('DELETE', `${policies}/only-a`);
    await vi.waitFor(async () => expect(await get('b', podUrl('c'))).toBe(`pod-c ${addresses.get('b')}`), 20_000);
  });

  test('a second cluster whose rules would meet those of the first is rejected', { timeout: TIMEOUT_MS }, async () => {
    const flags = [
      '--nodes',
      '1',
      '--runtime',
      'process',
      '--port',
      '0',
      '--service-cluster-ip-range',
      '10.229.8.0/24',
    ];
    const second = join(directory, 'second');
    const { code, stderr } = await runQd(['up', '--data-dir', second, ...flags], { enter: landscape.enter('a') });
    expect(code).toBe(1);
    expect(stderr).toContain('--service-cluster-ip-range 10.229.8.0/24 overlaps with 10.229.0.0/16 of the cluster in');
    expect(stderr).toContain(`qd down --data-dir ${dataOf('a')}`);
    expect(existsSync(second)).toBe(false);
  });

  test('a machine does not take over the node of another one', { timeout: TIMEOUT_MS }, async () => {
    const taking = [...NODE, '--node-name', NODES.b, '--data-dir', join(directory, 'taking')];
    const { code, stderr } = await runQd([...joinCommand, ...taking], { enter: landscape.enter('c') });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(`Node ${NODES.b} exists and is alive: a join token cannot replace it`),
    });
    expect(await get('a', podUrl('b'))).toBe(`pod-b ${addresses.get('a')}`);
  });

  test('a killed agent leaves its pods reachable, and nothing after a reset', { timeout: TIMEOUT_MS }, async () => {
    for (const machine of ['c', 'b'] as const) {
      const agent = agents.get(machine)!;
      agent.kill('SIGKILL');
      await once(agent, 'exit');
      expect(await get('a', podUrl(machine))).toBe(`pod-${machine} ${addresses.get('a')}`);
      const { code, stderr } = await runQd(['reset', '--yes', '--data-dir', dataOf(machine)], {
        enter: landscape.enter(machine),
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(landscape.traces(machine)).toEqual([]);
      await qd.request('DELETE', `/api/v1/nodes/${NODES[machine]}`);
    }
    await vi.waitFor(() => expect(landscape.run('a', 'ip', 'route', 'show', 'proto', '150')).toBe(''), 10_000);
    expect(landscape.traces('a').filter((each) => each.includes('qdx') || each.includes('routes'))).toEqual([]);
  });

  test('the machine of the cluster is as it was after qd down', { timeout: TIMEOUT_MS }, async () => {
    expect(landscape.traces('a')).not.toEqual([]);
    await runQd(['down', '--data-dir', dataOf('a')], { enter: landscape.enter('a') });
    expect(landscape.traces('a')).toEqual([]);
  });
});
