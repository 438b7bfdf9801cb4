import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestAuthority, testAuthority } from '../../../../test/support/tls.ts';
import { Cleanup } from '../../../assembly/cleanup.ts';
import type { Flag } from '../../../base/flag.ts';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock, systemClock } from '../../../base/time/clock.ts';
import { type Client, createClient } from '../../../client/client.ts';
import type { Connection } from '../../../client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../../../client/transport/http/https-transport.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { Cluster } from '../../../kinds/groups/federation/cluster.ts';
import { FederatedType } from '../../../kinds/groups/federation/federated-type.ts';
import { type FederationServerFlags, federationServerFlags } from './flags.ts';
import { startFederationServer } from './start.ts';

let directory: string;
let authority: TestAuthority;
let files: Pick<FederationServerFlags, 'tlsCertFile' | 'tlsPrivateKeyFile' | 'clientCaFile'>;
let admin: Pick<Connection, 'ca' | 'cert' | 'key'>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'qd-federation-'));
  authority = await testAuthority();
  const { cert, key } = await authority.server();
  files = {
    tlsCertFile: file('server.crt', cert),
    tlsPrivateKeyFile: file('server.key', key),
    clientCaFile: file('ca.crt', authority.ca),
  };
  admin = { ca: authority.ca, ...(await authority.client('admin')) };
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

const defaults = {
  ...{ bindAddress: '127.0.0.1', securePort: 0, anonymousAuth: false, admissionControl: ['NamespaceLifecycle'] },
  ...{ maxRequestsInflight: 400, maxMutatingRequestsInflight: 200, requestTimeout: 60_000, logLevel: 'info' },
} as const;

/** Runs a server while `use` does. */
async function withServer(
  flags: Partial<FederationServerFlags>,
  use: (client: (connection: Partial<Connection>) => Client, server: string) => Promise<void>,
): Promise<void> {
  const cleanup = new Cleanup();
  const stop = new AbortController();
  cleanup.add(async () => stop.abort());
  const environment = { clock: systemClock, random: systemRandom, log: silent, cleanup, signal: stop.signal };
  try {
    const { server } = await startFederationServer(
      { ...defaults, ...files, ...flags } as FederationServerFlags,
      environment,
    );
    await use((connection) => {
      const transport = httpsTransport({ server, ca: authority.ca, ...connection });
      cleanup.add(async () => transport.close());
      return createClient(transport);
    }, server);
  } finally {
    await cleanup.run();
  }
}

it('serves the kinds of a federation and no others', () =>
  withServer({}, async (client) => {
    const api = client(admin);
    await api.of(Cluster).create({ metadata: { name: 'east' } });
    await expect(api.of(Pod).in('default').list()).rejects.toMatchObject({ reason: 'NotFound' });
  }));

it('rule 3: the namespace default is missing until the operator creates it', () =>
  withServer({}, async (client) => {
    const api = client(admin);
    expect((await api.of(Namespace).list()).items).toEqual([]);
    const map = { metadata: { name: 'a', namespace: 'default' } };
    await expect(api.of(ConfigMap).create(map)).rejects.toMatchObject({ reason: 'NotFound' });
    await api.of(Namespace).create({ metadata: { name: 'default' } });
    await api.of(ConfigMap).create(map);
  }));

it('accepts client certificates alone unless basic and token authentication are enabled', async () => {
  const credentials = [{ token: 'secret' }, { username: 'admin', password: 'word' }];
  await withServer({}, async (client) => {
    for (const each of [{}, ...credentials]) {
      await expect(client(each).of(Cluster).list()).rejects.toMatchObject({ reason: 'Unauthorized' });
    }
  });
  const enabled = {
    tokenAuthFile: file('token.csv', 'secret,admin,admin'),
    basicAuthFile: file('basicauth.csv', 'word,admin,admin'),
  };
  await withServer(enabled, async (client) => {
    for (const each of credentials) expect((await client(each).of(Cluster).list()).items).toEqual([]);
    await expect(client({ token: 'guess' }).of(Cluster).list()).rejects.toMatchObject({ reason: 'Unauthorized' });
  });
});

it('kinds may have the names of what every object of JavaScript has', () =>
  withServer({}, async (client, server) => {
    const types = client(admin).of(FederatedType);
    for (const [name, kind] of [
      ['as.example.com', 'constructor'],
      ['bs.constructor', 'Hidden'],
      ['valueof.example.com', 'valueOf'],
    ] as const) {
      await types.create({ metadata: { name }, spec: { version: 'v1', kind } });
    }
    const isServed = async () =>
      (await types.list()).items.every(({ status }) => status?.conditions?.some((each) => each.status === 'True'));
    while (!(await isServed())) await new Promise(setImmediate);
    const transport = httpsTransport({ server, ...admin });
    try {
      const { definitions } = await transport.read('/openapi/v2');
      expect(Object.keys(definitions)).toContain('com.example.v1.constructor');
      expect(Object.keys(definitions)).toContain('io.k8s.api.constructor.v1.Hidden');
      for (const path of ['apis/example.com/v1', 'apis/constructor/v1']) {
        expect(await transport.read(`/openapi/v3/${path}`)).toMatchObject({ openapi: '3.0.0' });
      }
    } finally {
      transport.close();
    }
  }));

it('keeps objects in the data directory, and without one for as long as it runs', async () => {
  const created = async (flags: Partial<FederationServerFlags>) => {
    await withServer(flags, async (client) => {
      await client(admin)
        .of(Cluster)
        .create({ metadata: { name: 'east' } });
    });
    let names: (string | undefined)[] = [];
    await withServer(flags, async (client) => {
      names = (await client(admin).of(Cluster).list()).items.map(({ metadata }) => metadata.name);
    });
    return names;
  };
  expect(await created({ dataDir: join(directory, 'data') })).toEqual(['east']);
  expect(await created({})).toEqual([]);
});

it('names the etcd servers when none of them answers', async () => {
  const cleanup = new Cleanup();
  const clock = new ControlledClock();
  const environment = { clock, random: systemRandom, log: silent, cleanup, signal: new AbortController().signal };
  const flags = { ...defaults, ...files, etcdServers: ['http://127.0.0.1:1', 'http://127.0.0.2:1'] };
  let error: Error | undefined;
  startFederationServer(flags as FederationServerFlags, environment).catch((each: Error) => {
    error = each;
  });
  while (!error) await clock.advance(100);
  expect(error.message).toBe(
    'etcd did not answer within 5000 ms: the connection was refused (ECONNREFUSED) ' +
      '(--etcd-servers http://127.0.0.1:1,http://127.0.0.2:1)',
  );
});

it('does not listen when it is told to stop during the start', async () => {
  const cleanup = new Cleanup();
  const signal = AbortSignal.abort(new Error('stopped'));
  const environment = { clock: systemClock, random: systemRandom, log: silent, cleanup, signal };
  const starting = startFederationServer({ ...defaults, ...files } as FederationServerFlags, environment);
  await expect(starting.finally(() => cleanup.run())).rejects.toThrow('stopped');
});

it.each([
  ['http://127.0.0.1:2379,https://etcd.example:2379/', ['http://127.0.0.1:2379', 'https://etcd.example:2379']],
  ['garbage', 'It must be URLs such as http://127.0.0.1:2379'],
  ['ftp://127.0.0.1:2379', 'It must be URLs such as http://127.0.0.1:2379'],
])('--etcd-servers %s', (text, expected) => {
  const { parse } = federationServerFlags.find(({ spec }) => spec.startsWith('--etcd-servers'))! as Flag;
  if (typeof expected === 'string') expect(() => parse!(text, undefined)).toThrow(expected);
  else expect(parse!(text, undefined)).toEqual(expected);
});

it.each<[Partial<FederationServerFlags>, string]>([
  [{ etcdServers: ['https://127.0.0.1:1'], etcdCafile: '/none' }, '--etcd-cafile /none cannot be read'],
  [{ etcdServers: ['https://127.0.0.1:1'], etcdCertfile: '/none' }, '--etcd-certfile and --etcd-keyfile must be given'],
  [{ tlsCertFile: undefined as never }, '--tls-cert-file and --tls-private-key-file are required'],
  [{ tokenAuthFile: '/none' }, '--token-auth-file /none cannot be used'],
  [{ dataDir: '/none', etcdServers: ['http://127.0.0.1:1'] }, 'must not both be given'],
])('rejects %j', async (flags, message) => {
  await expect(withServer(flags, async () => undefined)).rejects.toThrow(message);
});
