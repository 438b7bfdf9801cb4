/** Clients of a cluster with real pods notice neither that its program ends nor that another one takes over. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { connect as connectTo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';
import { otherRelease } from './other-release.ts';
import { echoing, getting, resolving, type Watch, watch, watchOpen } from './watch.ts';

const isRoot = process.getuid?.() === 0;
const isInstalled = existsSync('/usr/sbin/nft');
if (!isRoot || !isInstalled) console.log('skipped: nft is not installed, or this is not root');

const TIMEOUT_MS = 120_000;
/** Number of answers to each client, after each step. */
const MORE_ANSWERS = 20;
const HOST = 'web.test';
const NAMESPACE = '/api/v1/namespaces/default';
const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

/** Server that answers requests, and echoes data after an upgrade. */
const SERVER = `
const server = require('http').createServer((request, response) => response.end('ok'));
server.on('upgrade', (_, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n');
  socket.on('error', () => {});
  socket.pipe(socket);
});
server.listen(8080);
`;

const INGRESS_PORT = 80;

/** Undefined when another program of this machine has it. */
async function takePort(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  const isTaken = once(server, 'listening').then(() => true);
  return (await isTaken.catch(() => false)) ? server : undefined;
}

const flagsOf = (range: number) => [
  ...['--nodes', '1', '--runtime', 'process'],
  ...['--cluster-cidr', `10.${range}.0.0/16`, '--service-cluster-ip-range', `10.123.${range}.0/24`],
];
const daemonsIn = async (data: string) =>
  (await readdir(join(data, 'network')).catch((): string[] => [])).filter((name) => name.endsWith('.pid'));

describe.skipIf(!isRoot || !isInstalled)('clients of a cluster with real pods', () => {
  let directory: string;
  let qd: Qd;
  let ports: { readonly dns: number; readonly http: number; readonly node: number };
  let dnsAddress: string;
  let watches: Watch[];
  let echoes: Awaited<ReturnType<typeof echoing>>[];
  const data = () => join(directory, 'data');
  // Rules are named after it, and other clusters of this machine have some, too.
  const flags = [...flagsOf(147), '--name', 'outliving'];
  const start = (options: { dist?: string; env?: NodeJS.ProcessEnv } = {}) => startQd({ directory, flags, ...options });
  const command = (...args: string[]) => runQd([...args, '--data-dir', data()], { env: { HOME: directory } });
  const daemons = () => daemonsIn(data());
  const tables = () => execFileSync('/usr/sbin/nft', ['list', 'tables'], { encoding: 'utf8' });

  async function deploy(): Promise<void> {
    const post = async (path: string, body: object) => {
      const { code, text } = await qd.request('POST', path, { body });
      expect(code, text).toBe(200);
    };
    await qd.until('/api/v1/nodes', ({ status }) => isTrue(status, 'Ready'));
    await post(`${NAMESPACE}/services`, {
      metadata: { name: 'web' },
      spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
    });
    await post(`${NAMESPACE}/pods`, {
      metadata: { name: 'web', labels: { app: 'web' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [
          {
            ...{ name: 'c', image: 'host', command: ['node', '-e', SERVER] },
            readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          },
        ],
      },
    });
    const backend = { service: { name: 'web', port: { number: 80 } } };
    await post(INGRESSES, {
      metadata: { name: 'web' },
      spec: { rules: [{ host: HOST, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
    });
    await qd.until(SLICES, ({ endpoints }) => endpoints?.some(({ conditions }: any) => conditions.ready));
    await qd.until(INGRESSES, ({ status }) => status.loadBalancer?.ingress);
    const [, dns = '', dnsPort = ''] = /^DNS .* on (\S+):(\d+)/m.exec(qd.output()) ?? [];
    const [, http = ''] = /^ingress +http:\S+:(\d+)/m.exec(qd.output()) ?? [];
    const { body } = await qd.request('GET', `${NAMESPACE}/services/web`);
    dnsAddress = dns;
    ports = { dns: Number(dnsPort), http: Number(http), node: body.spec.ports[0].nodePort };
    const asking = [getting(ports.http, { host: HOST, keepAlive: false }), resolving(NAME, dnsServer())];
    asking.push(getting(ports.node, { host: HOST, keepAlive: false }));
    for (const ask of asking) await vi.waitFor(ask, 20_000);
  }

  const NAME = 'web.default.svc.cluster.local';
  const dnsServer = () => ({ address: dnsAddress, port: ports.dns });

  beforeAll(async () => {
    directory = await newDirectory();
    await chmod(directory, 0o777);
    const usual = await takePort(INGRESS_PORT);
    qd = await start();
    await deploy();
    // From now on, a start could have it.
    usual?.close();
  }, TIMEOUT_MS);

  afterAll(async () => {
    await qd?.stop('SIGKILL');
    await command('reset', '--yes');
    await rm(directory, { recursive: true, force: true });
  }, TIMEOUT_MS);

  beforeEach(async () => {
    echoes = [await echoing(ports.http, HOST), await echoing(ports.node, HOST)];
    watches = [
      watch('DNS', resolving(NAME, dnsServer())),
      watch('a connection to Ingress', getting(ports.http, { host: HOST, keepAlive: false })),
      watch('a request to Ingress', getting(ports.http, { host: HOST, keepAlive: true })),
      watch('a node port', getting(ports.node, { host: HOST, keepAlive: false })),
      ...echoes.map(({ ask }, index) => watchOpen(`open connection ${index}`, ask)),
    ];
    await allAnswered();
  });

  afterEach(async () => {
    await Promise.all(watches.map((each) => each.stop()));
    for (const each of echoes) each.close();
  });

  /** Lets the clients continue, and fails with the requests that were not answered. */
  async function allAnswered(): Promise<void> {
    await Promise.all(watches.map((each) => each.more(MORE_ANSWERS)));
    expect(watches.flatMap(({ failures }) => failures)).toEqual([]);
  }

  test.each(['SIGTERM', 'SIGKILL'] as const)('%s and the next start', { timeout: TIMEOUT_MS }, async (signal) => {
    await qd.stop(signal);
    await allAnswered();
    qd = await start();
    await allAnswered();
    expect(await daemons()).toHaveLength(1);
  });

  test('a start that fails', { timeout: TIMEOUT_MS }, async () => {
    await qd.stop('SIGTERM');
    const certificate = join(data(), 'pki', 'ca.crt');
    const before = execFileSync('cat', [certificate]);
    await writeFile(certificate, 'nonsense');
    try {
      const { code } = await command('up', ...flags, '--port', '0', '--kubeconfig', join(directory, 'kubeconfig'));
      expect(code).toBe(1);
    } finally {
      await writeFile(certificate, before);
    }
    await allAnswered();
    qd = await start();
    await allAnswered();
    expect(await daemons()).toHaveLength(1);
  });

  test('another release, whose start fails at first, and then the old one again', { timeout: TIMEOUT_MS }, async () => {
    const folder = await newDirectory();
    await chmod(folder, 0o755);
    const other = { dist: await otherRelease(folder), env: { NODE_DISABLE_COMPILE_CACHE: '1' } };
    try {
      await qd.stop('SIGTERM');
      const [daemon] = await daemons();
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      const { port } = taken.address() as { port: number };
      const failing = ['--ingress-http-port', String(port), '--kubeconfig', join(directory, 'kubeconfig')];
      const failed = await runQd(['up', '--data-dir', data(), ...flags, '--port', '0', ...failing], other);
      taken.close();
      expect(failed.stderr).toContain('--ingress-http-port');
      await allAnswered();
      await vi.waitFor(async () => expect(await daemons()).toEqual([daemon]), 30_000);
      qd = await start(other);
      await allAnswered();
      // The old one goes on with the connections that are open.
      const both = await vi.waitFor(async () => {
        const found = await daemons();
        expect(found).toHaveLength(2);
        return found;
      }, 20_000);
      expect(both).toContain(daemon);
      await qd.stop('SIGKILL');
      await allAnswered();
      qd = await start();
      await vi.waitFor(async () => {
        expect((await daemons()).filter((each) => !both.includes(each))).toHaveLength(1);
      }, 20_000);
      await allAnswered();
      await Promise.all(watches.map((each) => each.stop()));
      for (const each of echoes) each.close();
      await vi.waitFor(async () => expect(await daemons()).toHaveLength(1), 15_000);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('a daemon that is killed is started again', { timeout: TIMEOUT_MS }, async () => {
    await Promise.all(watches.map((each) => each.stop()));
    const [daemon = ''] = await daemons();
    process.kill(Number(daemon.replace('.pid', '')), 'SIGKILL');
    for (const ask of [resolving(NAME, dnsServer()), getting(ports.http, { host: HOST, keepAlive: false })]) {
      await vi.waitFor(ask, { timeout: 20_000, interval: 100 });
    }
    expect(await daemons()).not.toContain(daemon);
  });

  test('another cluster does not start with what the rules of a stopped one have', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await Promise.all(watches.map((each) => each.stop()));
    await qd.stop('SIGTERM');
    const other = await newDirectory();
    const up = (...more: string[]) =>
      runQd(['up', '--data-dir', join(other, 'data'), '--kubeconfig', join(other, 'kubeconfig'), ...more]);
    const sameRanges = await up(...flags, '--port', '0');
    expect(sameRanges.stderr).toContain(`${data()}, which is stopped, and whose pods and rules go on`);
    const samePort = await up(...flagsOf(149), '--port', String(ports.node));
    expect(samePort.stderr).toContain(`port ${ports.node} is a node port of another cluster`);
    await rm(other, { recursive: true, force: true });
    qd = await start();
    expect(await getting(ports.node, { host: HOST, keepAlive: false })()).toBeUndefined();
  });

  test('qd down leaves nothing', { timeout: TIMEOUT_MS }, async () => {
    await Promise.all(watches.map((each) => each.stop()));
    await qd.stop('SIGTERM');
    expect(tables()).toContain('qd-outliving-node-1-');
    const { stdout } = await runQd(['list']);
    const [, daemon = ''] = /outliving .*stopped \(.*process (\d+)/.exec(stdout) ?? [];
    expect(isRunning(daemon)).toBe(true);
    expect(await command('down')).toMatchObject({ code: 0 });
    expect(await daemons()).toEqual([]);
    // Another cluster of this machine may have taken its ports already.
    await expect.poll(() => isRunning(daemon)).toBe(false);
    expect(existsSync(join(data(), 'network', 'daemon.sock'))).toBe(false);
    expect(await isOpen('127.0.0.1', ports.node)).toBe(false);
    expect(tables()).not.toContain('qd-outliving-node-1-');
    qd = await start();
    await qd.stop('SIGKILL');
    expect(await command('reset', '--yes')).toMatchObject({ code: 0 });
    expect(existsSync(data())).toBe(false);
  });
});

/** Tests without root, where pods have no addresses. */
describe.skipIf(!isRoot)('without root', () => {
  let directory: string;
  const uid = 65_534;
  const run = (...args: string[]) =>
    runQd([...args, '--data-dir', join(directory, 'data')], { env: { HOME: directory }, uid });
  const down = () => run('down');

  beforeAll(async () => {
    directory = await newDirectory();
    await chmod(directory, 0o777);
  });

  afterAll(async () => {
    await run('reset', '--yes');
    await rm(directory, { recursive: true, force: true });
  }, TIMEOUT_MS);

  test('Services, node ports, DNS and Ingress go on while a pod does, and not without one', {
    timeout: TIMEOUT_MS,
  }, async () => {
    // Addresses of this machine, and a port that needs no rights.
    const flags = [...flagsOf(148), '--service-cluster-ip-range', '127.58.148.0/24'];
    const [target, port] = [await freePort(), 8_080];
    const start = (options: { dist?: string; env?: NodeJS.ProcessEnv } = {}) =>
      startQd({ directory, flags, uid, ...options });
    const daemons = () => daemonsIn(join(directory, 'data'));
    const folder = join(directory, 'other');
    await mkdir(folder);
    const other = { dist: await otherRelease(folder), env: { NODE_DISABLE_COMPILE_CACHE: '1' } };
    let qd = await start();
    await qd.stop('SIGTERM');
    await vi.waitFor(async () => expect(await daemons()).toEqual([]), 10_000);
    qd = await start();
    await qd.until('/api/v1/nodes', ({ status }) => isTrue(status, 'Ready'));
    const command = ['node', '-e', SERVER.replace('8080', String(target))];
    const ports = [{ containerPort: target }];
    const readinessProbe = { httpGet: { path: '/', port: target }, periodSeconds: 1 };
    await qd.request('POST', `${NAMESPACE}/pods`, {
      body: {
        metadata: { name: 'web', labels: { app: 'web' } },
        spec: { containers: [{ name: 'c', image: 'host', command, ports, readinessProbe }] },
      },
    });
    const { body: service } = await qd.request('POST', `${NAMESPACE}/services`, {
      body: {
        metadata: { name: 'web' },
        spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port, targetPort: target }] },
      },
    });
    const { clusterIP } = service.spec;
    const { nodePort } = service.spec.ports[0];
    const [, dnsAddress = '', dnsPort = ''] = /^DNS .* on (\S+):(\d+)/m.exec(qd.output()) ?? [];
    const [, http = ''] = /^ingress +http:\S+:(\d+)/m.exec(qd.output()) ?? [];
    const asking = {
      DNS: resolving('kubernetes.default.svc.cluster.local', { address: dnsAddress, port: Number(dnsPort) }),
      Ingress: async () => {
        const { status } = await fetch(`http://127.0.0.1:${http}/`);
        if (status !== 404) throw new Error(`${status}`);
      },
      'a node port': getting(nodePort, { host: HOST, keepAlive: false }),
      'a connection to a node port': getting(nodePort, { host: HOST, keepAlive: true }),
      'a Service': getting(port, { host: HOST, address: clusterIP, keepAlive: false }),
    };
    for (const ask of Object.values(asking)) await vi.waitFor(ask, { timeout: 30_000, interval: 100 });
    const echo = await echoing(nodePort, HOST);
    const watches = Object.entries(asking).map(([name, ask]) => watch(name, ask));
    watches.push(watchOpen('an open connection', echo.ask));
    const allAnswered = async () => {
      await Promise.all(watches.map((each) => each.more(MORE_ANSWERS)));
      expect(watches.flatMap(({ failures }) => failures)).toEqual([]);
    };
    for (const [signal, release] of [
      ['SIGTERM', {}],
      ['SIGKILL', {}],
      ['SIGTERM', other],
    ] as const) {
      const before = await daemons();
      await qd.stop(signal);
      await allAnswered();
      qd = await start(release);
      if (release === other) await vi.waitFor(async () => expect(await daemons()).not.toEqual(before), 20_000);
      await qd.until('/api/v1/nodes', ({ status }) => isTrue(status, 'Ready'));
      await allAnswered();
    }
    // The next program knows the ports of its own Services.
    const { items } = (await qd.request('GET', `${NAMESPACE}/events`)).body;
    const isAbout = ({ reason, involvedObject }: any) => reason === 'PortInUse' && involvedObject.kind === 'Service';
    expect(items.filter(isAbout)).toEqual([]);
    await Promise.all(watches.map((each) => each.stop()));
    echo.close();
    await vi.waitFor(async () => expect(await daemons()).toHaveLength(1), 20_000);
    await qd.request('DELETE', `${NAMESPACE}/services/web`);
    await vi.waitFor(async () => expect(await isOpen('127.0.0.1', nodePort)).toBe(false), 10_000);
    expect(await down()).toMatchObject({ code: 0 });
    expect(await daemons()).toEqual([]);
  });
});

const isTrue = (status: any, type: string) =>
  status.conditions?.some((each: any) => each.type === type && each.status === 'True');

/** A process that has ended and whose parent does not look runs no more. */
const isRunning = (pid: string) =>
  existsSync(`/proc/${pid}/status`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

async function isOpen(address: string, port: number): Promise<boolean> {
  const socket = connectTo(port, address);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
