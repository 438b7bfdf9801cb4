/** Tests the endpoint of an agent, and the server's connection to it: who may connect, and the handling of errors. */
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silent } from '../../src/base/log.ts';
import { ControlledClock, systemClock } from '../../src/base/time/clock.ts';
import { Endpoint } from '../../src/node/endpoint/endpoint.ts';
import type { NodeConnection } from '../../src/server/outbound/nodes/connection.ts';
import { httpsConnection } from '../../src/server/outbound/nodes/https-connection.ts';
import { LOOPBACK_GUARD } from '../support/loopback-guard.ts';
import { type HostNode, hostNode } from './host-node.ts';
import { nodeAuthority, reviewClient, SERVER_USER, servedNode } from './remote-node.ts';

type Authority = Awaited<ReturnType<typeof nodeAuthority>>;
type Pair = { readonly cert: string; readonly key: string };

const SUMMARY = {
  node: { cpu: { time: '2030-01-01T00:00:00Z', usageNanoCores: 5e8 }, memory: { workingSetBytes: 1000 } },
  pods: [
    {
      podRef: { namespace: 'default', name: 'web' },
      containers: [{ name: 'c', cpu: { usageNanoCores: 1e6 }, memory: { workingSetBytes: 10 } }],
    },
    { podRef: { namespace: 'default', name: 'new' }, containers: [{ name: 'c', memory: { workingSetBytes: 10 } }] },
  ],
};

let host: HostNode;
let authority: Authority;
let endpoint: Endpoint;
let port: number;
let logs: string;
const clock = new ControlledClock(Date.now());
const asked: any[] = [];
/** What the endpoint was given of packages. */
const upgrades: unknown[] = [];
const clients = new Map<string, Pair>();

beforeAll(async () => {
  logs = await mkdtemp(join(tmpdir(), 'endpoint-logs-'));
  await mkdir(join(logs, 'sub'));
  await writeFile(join(logs, 'a<b.log'), 'some lines');
  await writeFile(join(logs, 'empty.log'), '');
  await symlink('/etc/hostname', join(logs, 'outside'));
  host = hostNode();
  authority = await nodeAuthority();
  endpoint = new Endpoint({
    ...{ client: reviewClient([SERVER_USER, 'monitor'], asked), clock, log: silent, config: { maxPods: 110 } },
    node: servedNode(host, { summary: async () => SUMMARY }),
    logDirectory: logs,
    upgrades: {
      report: async () => ({ version: '0.1.0', accepts: 'yes' }),
      receive: async ({ content }) => void upgrades.push(content.length),
      start: async () => void upgrades.push('started'),
    },
  });
  port = await endpoint.listen('127.0.0.1', authority.ca);
  endpoint.use(await authority.leaf('system:node:n1', 'server', ['n1']), authority.ca);
  for (const name of [SERVER_USER, 'ann']) clients.set(name, await authority.leaf(name, 'client'));
  clients.set('administrator', await authority.leaf('monitor', 'client', [], 'system:masters'));
  clients.set('impostor', await authority.leaf(SERVER_USER, 'client', [], 'system:authenticated'));
  const other = await nodeAuthority();
  clients.set('stranger', await other.leaf(SERVER_USER, 'client'));
});

afterAll(async () => {
  host.stop();
  await endpoint.close();
  await rm(logs, { recursive: true });
});

interface Ask {
  readonly as?: string;
  readonly token?: string;
  readonly method?: string;
  readonly body?: Buffer;
}

async function ask(path: string, { as, token, method = 'GET', body }: Ask) {
  const call = request({
    ...{ host: '127.0.0.1', port, servername: 'n1', ca: authority.ca, agent: false, path, method },
    ...(as ? clients.get(as) : {}),
    headers: token ? { authorization: `Bearer ${token}` } : {},
  }).end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return { code: response.statusCode, body: await text(response), headers: response.headers };
}

describe('access', () => {
  it.each<[string, Ask, number, string]>([
    ['a client without credentials', {}, 401, 'Unauthorized'],
    ['a certificate of another authority', { as: 'stranger' }, 401, 'Unauthorized'],
    ['a token that is not valid', { token: 'bad' }, 401, 'Unauthorized'],
    [
      'a user without the right',
      { as: 'ann' },
      403,
      'Forbidden (user=ann, verb=get, resource=nodes, subresource(s)=[pods proxy])\n',
    ],
  ])('is refused to %s', async (_who, who, code, body) => {
    expect(await ask('/pods', who)).toMatchObject({ code, body });
  });

  it('is granted to the server, and to a token with the right', async () => {
    expect(await ask('/healthz', { as: SERVER_USER })).toMatchObject({ code: 200, body: 'ok' });
    expect(await ask('/healthz', { token: 'monitor' })).toMatchObject({ code: 200 });
  });

  it('asks for the right of the path, and remembers the answer for a while', async () => {
    const reviews = async (path: string, who: Ask) => {
      asked.length = 0;
      await ask(path, who);
      return asked.filter(({ kind }) => kind === 'SubjectAccessReview').map((each) => each.resourceAttributes);
    };
    const stats = { version: 'v1', resource: 'nodes', name: 'n1', verb: 'get', subresource: 'stats' };
    expect(await reviews('/stats/summary', { as: SERVER_USER })).toEqual([stats]);
    expect(await reviews('/stats/summary', { as: SERVER_USER })).toEqual([]);
    await clock.advance(300_000);
    expect(await reviews('/stats/summary', { as: SERVER_USER })).toEqual([stats]);
    expect(await reviews('/exec/default/web/c', { as: SERVER_USER, method: 'POST' })).toMatchObject([
      { verb: 'create', subresource: 'proxy' },
    ]);
  });

  describe('to upgrades of the machine', () => {
    const path = `/upgrade/${'a'.repeat(64)}`;
    const content = Buffer.alloc(1024 * 1024, 'x');
    const part = (as: string, body = content) => ask(`${path}?offset=0`, { as, method: 'PUT', body });

    it('is granted to the server', async () => {
      expect(await part(SERVER_USER)).toMatchObject({ code: 200, body: JSON.stringify({ received: content.length }) });
      expect(await ask(path, { as: SERVER_USER, method: 'POST' })).toMatchObject({ code: 200 });
      expect(upgrades).toEqual([content.length, 'started']);
      const report = JSON.stringify({ version: '0.1.0', accepts: 'yes' });
      expect(await ask('/upgrade', { as: SERVER_USER })).toMatchObject({ code: 200, body: report });
    });

    it('is refused to all others, whatever rights they have', async () => {
      upgrades.length = 0;
      const refused = { code: 403, body: expect.stringContaining('for servers only') };
      expect(await ask('/upgrade', { token: 'monitor' })).toMatchObject(refused);
      expect(await ask(path, { token: 'monitor', method: 'POST' })).toMatchObject(refused);
      expect(await part('administrator')).toMatchObject(refused);
      expect(await part('impostor')).toMatchObject(refused);
      for (const as of ['ann', 'stranger']) expect([401, 403]).toContain((await part(as)).code);
      expect(upgrades).toEqual([]);
    });

    it('ends at the size of a part', async () => {
      expect(await part(SERVER_USER, Buffer.alloc(content.length + 1))).toMatchObject({ code: 413 });
      expect(upgrades).toEqual([]);
    });
  });

  it('ends with the certificate, also on a connection that is open', async () => {
    const soon = await authority.leaf(SERVER_USER, 'client');
    const late = new ControlledClock(Date.now() + 2 * 86_400_000);
    const other = new Endpoint({
      ...{ client: reviewClient([SERVER_USER]), clock: late, log: silent, config: {}, logDirectory: logs },
      node: servedNode(host),
    });
    const own = await other.listen('127.0.0.1', authority.ca);
    other.use(await authority.leaf('system:node:n1', 'server', ['n1']), authority.ca);
    const options = { host: '127.0.0.1', port: own, servername: 'n1', ca: authority.ca, agent: false, ...soon };
    const [response] = await once(request({ ...options, path: '/healthz' }).end(), 'response');
    expect(response.statusCode).toBe(401);
    await other.close();
  });
});

describe('a path', () => {
  const server = (path: string, method = 'GET') => ask(path, { as: SERVER_USER, method });

  it.each([
    ['/pods', 'application/json'],
    ['/runningpods/', 'application/json'],
    ['/stats/summary', 'application/json'],
    ['/configz', 'application/json'],
    ['/metrics', 'text/plain; version=0.0.4; charset=utf-8'],
    ['/metrics/cadvisor', 'text/plain; version=0.0.4; charset=utf-8'],
    ['/metrics/probes', 'text/plain; version=0.0.4; charset=utf-8'],
    ['/metrics/slis', 'text/plain; version=0.0.4; charset=utf-8'],
    ['/logs/', 'text/html; charset=utf-8'],
  ])('%s has its document', async (path, type) => {
    expect(await server(path)).toMatchObject({ code: 200, headers: { 'content-type': type } });
  });

  it('counts how often it was asked for its health', async () => {
    const counted = async () =>
      /kubernetes_healthchecks_total{name="ping",status="success",type="healthz"} (\d+)/.exec(
        (await server('/metrics/slis')).body,
      )?.[1];
    await server('/healthz');
    const before = Number(await counted());
    await server('/healthz');
    expect(Number(await counted())).toBe(before + 1);
    expect((await server('/metrics/slis')).body).toContain('kubernetes_healthcheck{name="syncloop",type="healthz"} 1');
  });

  it('shows pods and the configuration', async () => {
    expect(JSON.parse((await server('/pods')).body)).toMatchObject({
      ...{ kind: 'PodList', items: [{ metadata: { name: 'web' } }] },
    });
    expect(JSON.parse((await server('/configz')).body)).toEqual({ kubeletconfig: { maxPods: 110 } });
  });

  it('of a log file sends it, and nothing outside of the directory', async () => {
    expect((await server('/logs/')).body).toContain('<a href="a%3Cb.log">a&#60;b.log</a>\n');
    expect(await server('/logs/a%3Cb.log')).toMatchObject({ code: 200, body: 'some lines' });
    expect(await server('/logs/empty.log')).toMatchObject({ code: 200, body: '' });
    expect(await server('/logs/sub')).toMatchObject({ code: 301, headers: { location: 'sub/' } });
    for (const path of [
      'outside',
      '../../etc/hostname',
      '%2e%2e/%2e%2e/etc/hostname',
      '..%2f..%2fetc%2fhostname',
      'x',
    ]) {
      expect((await server(`/logs/${path}`)).code, path).toBe(404);
    }
  });

  it.each([
    ['/nothing', 404, 'GET'],
    ['/pods', 405, 'DELETE'],
    ['/exec/default/web/c?output=1&command=true', 400, 'POST'],
    ['/metrics/resource', 503, 'GET'],
    ['/exec/default/%zz/c', 404, 'POST'],
  ])('%s is rejected with %i', async (path, code, method) => {
    expect((await server(path, method)).code).toBe(code);
  });

  it('is served without a socket, too', async () => {
    const call = httpRequest({ createConnection: () => endpoint.connect(), path: '/stats/summary' }).end();
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    expect(JSON.parse(await text(response))).toEqual(SUMMARY);
  });
});

describe("the server's connection", () => {
  const target = { node: 'n1', namespace: 'default', pod: 'web', container: 'c', signal: undefined };
  const streams = { stdin: false, stdout: true, stderr: false, tty: false };
  const connected = (at: number, who = SERVER_USER): NodeConnection =>
    httpsConnection({
      addressOf: (node) => (node === 'unknown' ? undefined : { host: '127.0.0.1', port: at }),
      identity: async () => ({ ca: authority.ca, ...clients.get(who)! }),
      guard: LOOPBACK_GUARD,
      clock: systemClock,
    });

  it('reads metrics, and leaves out what was measured only once', async () => {
    expect(await connected(port).usage('n1')).toEqual({
      ...{ time: Date.parse('2030-01-01T00:00:00Z'), window: 10_000, node: { cpu: 5e8, memory: 1000 } },
      pods: [{ namespace: 'default', name: 'web', containers: [{ name: 'c', cpu: 1e6, memory: 10 }] }],
    });
    expect(await connected(1).usage('n1')).toBeUndefined();
  });

  it('says so when nobody listens', async () => {
    const { exec, logs: read, portForward } = connected(1);
    const refused = 'dial tcp 127.0.0.1:1: connect: connection refused';
    const dialing = { reason: 'InternalError', message: `error dialing backend: ${refused}` };
    await expect(exec({ ...target, streams, command: ['true'] })).rejects.toMatchObject(dialing);
    await expect(portForward({ ...target, port: 80 })).rejects.toMatchObject(dialing);
    const lines = { follow: false, previous: false, timestamps: true, since: 0, tailLines: 3 };
    const reading = read({ ...target, ...lines, stream: undefined, limitBytes: undefined });
    const query = 'timestamps=true&sinceTime=1970-01-01T00%3A00%3A00.000Z&tailLines=3';
    await expect(reading).rejects.toMatchObject({
      ...{ reason: 'InternalError' },
      message: `Get "https://127.0.0.1:1/containerLogs/default/web/c?${query}": ${refused}`,
    });
    expect(connected(1).rejection('unknown', 'exec')).toBe('the agent of node "unknown" cannot be reached');
  });

  it('is not made to an agent that shows the certificate of another node', async () => {
    const exec = connected(port).exec({ ...target, node: 'n2', streams, command: ['true'] });
    await expect(exec).rejects.toMatchObject({
      message: 'error dialing backend: tls: failed to verify certificate: x509: certificate is not valid for n2',
    });
  });

  it('is not made to one with a certificate of another authority', async () => {
    const other = new Endpoint({
      ...{ client: reviewClient([]), clock, log: silent, config: {}, logDirectory: logs, node: servedNode(host) },
    });
    const own = await other.listen('127.0.0.1', authority.ca);
    const none = connected(own).exec({ ...target, streams, command: ['true'] });
    await expect(none).rejects.toThrow('error dialing backend: remote error: tls: handshake failure');
    other.use(await (await nodeAuthority()).leaf('system:node:n1', 'server', ['n1']), authority.ca);
    const exec = connected(own).exec({ ...target, streams, command: ['true'] });
    await expect(exec).rejects.toThrow('error dialing backend: tls: failed to verify certificate: x509: ');
    await other.close();
  });

  it('says what the agent answered', async () => {
    const exec = (pod: string, container: string) =>
      connected(port).exec({ ...target, pod, container, streams, command: ['true'] });
    await expect(exec('lost', 'c')).rejects.toMatchObject({
      ...{ reason: 'NotFound', message: 'pod "lost" is not known to node "n1"' },
    });
    await expect(exec('web', 'x')).rejects.toMatchObject({
      ...{ reason: 'InternalError', message: 'unable to upgrade connection: container not found ("x")' },
    });
    await expect(connected(port, 'ann').exec({ ...target, streams, command: ['true'] })).rejects.toMatchObject({
      ...{ reason: 'InternalError', message: expect.stringContaining('Forbidden (user=ann, verb=create') },
    });
  });

  it('reaches addresses of pods, and no others', async () => {
    const echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const { port: at } = echo.address() as { port: number };
    const { dial } = connected(port);
    const socket = await dial({ node: 'n1', address: '127.0.0.1', port: at, signal: undefined });
    socket.end('through the agent');
    expect(await text(socket)).toBe('through the agent');
    echo.close();
    await expect(dial({ node: 'n1', address: '127.0.0.1', port: 1, signal: undefined })).rejects.toThrow(
      'connect ECONNREFUSED 127.0.0.1:1',
    );
    await expect(dial({ node: 'n1', address: '10.1.2.3', port: 80, signal: undefined })).rejects.toThrow(
      'address not allowed',
    );
  });

  it('takes no more of the output of a process than the client reads, and serves others meanwhile', async () => {
    const started = host.children.length;
    const command = ['head', '-c', '4000000000', '/dev/zero'];
    const process = await connected(port).exec({ ...target, streams, command });
    process.exit.catch(() => undefined);
    await once(process.stdout!, 'readable');
    const { pid } = host.children[started]!;
    const written = async () => Number(/^wchar: (\d+)$/m.exec(await readFile(`/proc/${pid}/io`, 'utf8'))?.[1]);
    let [before, now] = [-1, await written()];
    while (now !== before) {
      for (let i = 0; i < 5; i++) expect((await ask('/healthz', { as: SERVER_USER })).code).toBe(200);
      [before, now] = [now, await written()];
    }
    expect(now).toBeLessThan(64 * 1024 * 1024);
    const other = await connected(port).exec({ ...target, streams, command: ['echo', 'meanwhile'] });
    expect(await text(other.stdout!)).toBe('meanwhile\n');
    process.close();
  });

  it('ends the process of a client that leaves', async () => {
    const left = new AbortController();
    const started = host.children.length;
    const process = await connected(port).exec({ ...target, streams, command: ['sleep', '1000'], signal: left.signal });
    process.exit.catch(() => undefined);
    const child = host.children[started]!;
    const ended = once(child, 'exit');
    left.abort();
    expect((await ended)[1]).toBe('SIGKILL');
  });
});
