/** A daemon in this process, with programs that come and go. */
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePort } from '../../../test/support/free-port.ts';
import { LOOPBACK_GUARD } from '../../../test/support/loopback-guard.ts';
import { DOMAIN, serviceChange } from '../../../test/support/network/dns.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { type LogFields, type Logger, silent } from '../../base/log.ts';
import { systemRandom } from '../../base/random.ts';
import { listenAt } from '../../base/sockets/keyed-socket/keyed-socket.ts';
import { systemClock } from '../../base/time/clock.ts';
import { EMPTY_CONFIG, type IngressConfig } from '../ingress/config.ts';
import { type ExternalTraffic, NO_RULES, type PortRules, type ServiceRules } from '../rules/rule-set.ts';
import { AttachedDaemon } from './attached-daemon.ts';
import { daemonSocket } from './calls.ts';
import { startDaemon } from './daemon.ts';

const RELEASE = 'a';
const DNS = { kinds: ['dns-udp', 'dns-tcp'], address: '127.0.0.1', port: 0 } as const;
const HTTP = { kinds: ['http'], address: '127.0.0.1', port: 0 } as const;
const NAME = `kubernetes.default.svc.${DOMAIN}`;

let directory: string;
let daemon: Awaited<ReturnType<typeof startDaemon>>;
let backend: Server;
let attached: AttachedDaemon[];
let warnings: { message: string; fields: LogFields | undefined }[];

beforeEach(async () => {
  directory = temporaryDirectory();
  attached = [];
  warnings = [];
  daemon = await startDaemon({
    ...{ directory, release: RELEASE, predecessor: undefined, clock: systemClock, random: systemRandom, log: silent },
    readResolvConf: async () => '',
    guardFor: () => LOOPBACK_GUARD,
  });
  backend = createServer((_, response) => response.end('from the pod')).listen(0, '127.0.0.1');
  await once(backend, 'listening');
});

afterEach(async () => {
  for (const each of attached) each.leave();
  daemon.end('the test ends');
  await daemon.ended;
  backend.close().closeAllConnections();
});

async function attach(command: readonly string[] = ['/bin/false']): Promise<AttachedDaemon> {
  const log: Logger = { ...silent, warn: (message, fields) => warnings.push({ message, fields }) };
  const program = await AttachedDaemon.open({
    ...{ directory, command, release: RELEASE, clock: systemClock, random: systemRandom, log },
    settings: {
      dns: { domain: DOMAIN, ranges: [], serviceAddress: undefined, clients: [], upstream: [] },
      allowedDialRanges: [],
    },
  });
  attached.push(program);
  return program;
}

const zone = (clusterIP: string) => [serviceChange('kubernetes', { clusterIP })];
const rules = (): IngressConfig => ({
  ...EMPTY_CONFIG,
  defaultBackend: 'web',
  backends: new Map([['web', [{ address: '127.0.0.1', port: (backend.address() as AddressInfo).port }]]]),
});

async function resolve(port: number): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  return resolver.resolve4(NAME);
}
const statusOf = async (port: number) => (await fetch(`http://127.0.0.1:${port}/`)).status;

/** Acts as a program whose start succeeds. */
async function serve(clusterIP: string) {
  const program = await attach();
  const ports = { dns: await program.listen(DNS), http: await program.listen(HTTP) };
  program.zone(zone(clusterIP), true);
  await program.use(rules());
  await program.commit();
  return { program, ports };
}

it('a daemon continues without a program, and answers as before until the next one is complete', async () => {
  const { program, ports } = await serve('10.96.0.1');
  program.leave();
  expect([await resolve(ports.dns), await statusOf(ports.http)]).toEqual([['10.96.0.1'], 200]);
  const next = await attach();
  expect([await next.listen(DNS), await next.listen(HTTP)]).toEqual([ports.dns, ports.http]);
  next.zone(zone('10.96.0.2'), false);
  expect([await resolve(ports.dns), await statusOf(ports.http)]).toEqual([['10.96.0.1'], 200]);
  next.zone([], true);
  await next.use({ ...rules(), defaultBackend: 'none' });
  await next.commit();
  expect([await resolve(ports.dns), await statusOf(ports.http)]).toEqual([['10.96.0.2'], 503]);
});

it('tells the next program which ports it has', async () => {
  const { program, ports } = await serve('10.96.0.1');
  program.leave();
  const next = await attach();
  expect([await next.held(DNS), await next.held(HTTP)]).toEqual([[ports.dns], [ports.http]]);
  expect(await next.held({ ...HTTP, kinds: ['https'] })).toEqual([]);
  await next.listen(HTTP);
  expect(await next.held(HTTP)).toEqual([]);
});

it('a daemon takes nothing from a program that left before it was complete', async () => {
  const { program, ports } = await serve('10.96.0.1');
  program.leave();
  const failed = await attach();
  await failed.listen(DNS);
  const opened = await failed.listen(HTTP);
  const more = await failed.listen({ ...HTTP, port: 0 });
  expect(opened).toBe(ports.http);
  expect(await statusOf(more)).toBe(200);
  failed.zone(zone('10.96.0.3'), false);
  failed.leave();
  await expect.poll(() => statusOf(more).catch(() => 'closed')).toBe('closed');
  expect([await resolve(ports.dns), await statusOf(ports.http)]).toEqual([['10.96.0.1'], 200]);
});

it('closes what the next program does not use', async () => {
  const { program, ports } = await serve('10.96.0.1');
  program.leave();
  const next = await attach();
  await next.listen(DNS);
  await next.commit();
  await expect(statusOf(ports.http)).rejects.toThrow();
  expect(await resolve(ports.dns)).toEqual(['10.96.0.1']);
});

it('a daemon follows the program that has come last', async () => {
  const { program, ports } = await serve('10.96.0.1');
  const next = await attach();
  await next.listen(DNS);
  await next.listen(HTTP);
  program.zone(zone('10.96.0.9'), true);
  next.zone(zone('10.96.0.2'), true);
  await next.use(rules());
  expect(await resolve(ports.dns)).toEqual(['10.96.0.2']);
  program.leave();
  expect(await statusOf(ports.http)).toBe(200);
});

it('a daemon reports why a port cannot be used, and continues', async () => {
  const program = await attach();
  const { port } = backend.address() as AddressInfo;
  await expect(program.listen({ ...HTTP, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(await program.listen(HTTP)).toBeGreaterThan(0);
});

it('its warnings reach the log of the program', async () => {
  const program = await attach();
  await program.use({ ...rules(), certificates: [{ hosts: ['a.test'], cert: 'nonsense', key: 'nonsense' }] });
  expect(warnings).toMatchObject([
    { message: 'a certificate of an Ingress cannot be used', fields: { hosts: ['a.test'] } },
  ]);
});

it('a daemon ends with a program that left before there was anything to serve', async () => {
  (await attach()).leave();
  await expect(daemon.ended).resolves.toBeUndefined();
});

it('a daemon ends with its directory', async () => {
  const { program } = await serve('10.96.0.1');
  program.leave();
  await rm(directory, { recursive: true });
  await expect(daemon.ended).resolves.toBeUndefined();
});

it('closes connections without the key, and those that send nonsense', async () => {
  const { ports } = await serve('10.96.0.1');
  for (const text of ['{"key":"wrong"}\n', 'nonsense\n', `${'x'.repeat(100_000)}`]) {
    const socket = connect(join(directory, daemonSocket(directory).socket));
    socket.on('error', () => undefined);
    socket.write(text);
    await once(socket.resume(), 'close');
  }
  expect(await resolve(ports.dns)).toEqual(['10.96.0.1']);
});

it('a daemon is not confused with a socket of another program at its path', async () => {
  const other = createSocketServer((socket) => socket.destroy());
  await listenAt(other, daemonSocket(directory));
  // The command starts nothing: the program asks the other one again, and gives up.
  await expect(attach([process.execPath, '-e', 'console.log("ready")'])).rejects.toThrow('does not answer');
  other.close();
});

it('listens for Services of a node, also after the program has gone, until the next one says otherwise', async () => {
  const [first, second] = [await freePort(), await freePort()];
  const asked = (nodePort: number): ReadonlyMap<string, ServiceRules> => {
    const { port } = backend.address() as AddressInfo;
    const choice = { endpoints: [{ address: '127.0.0.1', port, isLocal: true }], otherwise: 'reject' } as const;
    const external: ExternalTraffic = {
      ...{ addresses: [], loadBalancerAddresses: [], nodePort, allowedSources: undefined, policy: 'Cluster' },
      ...{ outside: choice, inside: choice.endpoints },
    };
    const rule: PortRules = {
      ...{ id: 'a', family: 4, protocol: 'tcp', clusterIP: '192.0.2.77', port: 80, affinitySeconds: undefined },
      ...{ internal: choice, external, serving: choice.endpoints },
    };
    return new Map([[`default/on-${nodePort}`, { ...NO_RULES, ports: [rule] }]]);
  };
  const isOpen = async (port: number) => {
    const socket = connect(port, '127.0.0.1');
    const isConnected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isConnected;
  };
  const { program } = await serve('10.0.0.1');
  const services = program.servicesOf('node');
  await services.apply({ services: asked(first), serviceRanges: [] });
  expect(await statusOf(first)).toBe(200);
  program.leave();
  expect(await isOpen(first)).toBe(true);
  const next = await attach();
  const nextServices = next.servicesOf('node');
  await nextServices.apply({ services: asked(second), serviceRanges: [] });
  expect(await isOpen(second)).toBe(true);
  await next.commit();
  expect([await isOpen(first), await isOpen(second)]).toEqual([false, true]);
  await nextServices.apply({ services: new Map([[`default/on-${second}`, NO_RULES]]), serviceRanges: [] });
  expect(await isOpen(second)).toBe(false);
  expect(warnings).toEqual([]);
});
