/** Names of federated services, from member clusters to a DNS provider. */
import { afterEach, describe, expect, it } from 'vitest';
import { DnsError, type DnsZone, type RecordChanges, type RecordSet } from '../../src/federation/dns/provider.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Event } from '../../src/kinds/groups/core/event/event.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { Endpoints } from '../../src/kinds/groups/core/service/endpoints.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { Cluster } from '../../src/kinds/groups/federation/cluster.ts';
import { startFederation, type TestFederation } from '../support/federation/federation.ts';
import { MemoryZone } from '../support/federation/memory-dns.ts';

const GLOBAL = 'web.x.fed.svc.example.com.';
const PORTS = [{ port: 80, protocol: 'TCP' }] as const;

/** A zone whose calls can be counted and made to fail. */
class WatchedZone implements DnsZone {
  readonly name = 'example.com.';
  readonly #zone = new MemoryZone(this.name);
  readonly changes: RecordChanges[] = [];
  lists = 0;
  fail: ((changes?: RecordChanges) => Error | undefined) | undefined;

  async list(): Promise<readonly RecordSet[]> {
    const error = this.fail?.();
    if (error) throw error;
    this.lists++;
    return this.#zone.list();
  }

  async change(changes: RecordChanges): Promise<void> {
    const error = this.fail?.(changes);
    if (error) throw error;
    this.changes.push(changes);
    await this.#zone.change(changes);
  }

  /** `name type values`, without the domain. */
  async lines(): Promise<string[]> {
    const short = (name: string) => name.replace(/example\.com\.$/, '');
    return (await this.#zone.list())
      .map(({ name, type, values }) => `${short(name)} ${type} ${values.map(short).join(',')}`)
      .sort();
  }
}

let federation: TestFederation;
let zone: WatchedZone;
const names = new Map<string, readonly string[]>();

/** East has the zone `a`, west the zone `b`, both in the region `r`. */
async function start(): Promise<void> {
  zone = new WatchedZone();
  await launch();
}

async function launch(): Promise<void> {
  federation = await startFederation(['east', 'west'], {
    dns: {
      ...{ federation: 'fed', domain: 'example.com.', zone: 'example.com.' },
      provider: { zone: async (name) => (name === zone.name ? zone : undefined) },
      resolve: async (hostname) => {
        const found = names.get(hostname);
        if (!found) throw new Error(`ENOTFOUND ${hostname}`);
        return found;
      },
    },
  });
  for (const [cluster, label] of [
    ['east', 'a'],
    ['west', 'b'],
  ] as const) {
    const labels = { 'topology.kubernetes.io/zone': label, 'topology.kubernetes.io/region': 'r' };
    await client(cluster)
      .of(Node)
      .create({ metadata: { name: 'n', labels } });
  }
}

const client = (cluster: string) => federation.members.get(cluster)!.client;

const create = (name: string, spec: object = {}) =>
  federation.client.of(Service).create({
    metadata: { name, namespace: 'x' },
    spec: { type: 'LoadBalancer', ports: PORTS, selector: { app: name }, ...spec },
  } as never);

/** Gives the service a load balancer and an endpoint in a cluster, as its controllers would. */
async function serve(cluster: string, name: string, ...ingress: readonly object[]): Promise<void> {
  await federation.eventually(async () =>
    client(cluster)
      .of(Service)
      .in('x')
      .get(name)
      .then(
        () => true,
        () => false,
      ),
  );
  const changes = { status: { loadBalancer: { ingress } } };
  await client(cluster).of(Service).in('x').patchStatus(name, { type: 'merge', changes });
  await setEndpoints(cluster, name, ['10.0.0.1']);
}

async function setEndpoints(cluster: string, name: string, ips: readonly string[]): Promise<void> {
  const endpoints = client(cluster).of(Endpoints).in('x');
  const subsets = [{ addresses: ips.map((ip) => ({ ip })), ports: [{ port: 80 }] }].filter(() => ips.length > 0);
  const changes = { subsets: [...subsets, ...(ips.length > 0 ? [] : [{ notReadyAddresses: [{ ip: '10.0.0.1' }] }])] };
  const metadata = { name, namespace: 'x' };
  await endpoints
    .patch(name, { type: 'merge', changes })
    .catch(() => endpoints.create({ metadata, ...changes } as never));
}

async function published(...expected: readonly string[]): Promise<void> {
  let seen: readonly string[] = [];
  await federation
    .eventually(async () => {
      seen = await zone.lines();
      return JSON.stringify(seen) === JSON.stringify([...expected].sort());
    })
    .catch(() => expect(seen).toEqual([...expected].sort()));
}

const BOTH = [
  'web.x.fed.svc. A 192.0.2.1,192.0.2.2',
  'web.x.fed.svc.r. A 192.0.2.1,192.0.2.2',
  'web.x.fed.svc.a.r. A 192.0.2.1',
  'web.x.fed.svc.b.r. A 192.0.2.2',
];
const WEST_ONLY = [
  'web.x.fed.svc. A 192.0.2.2',
  'web.x.fed.svc.r. A 192.0.2.2',
  'web.x.fed.svc.a.r. CNAME web.x.fed.svc.r.',
  'web.x.fed.svc.b.r. A 192.0.2.2',
];

async function startServed(): Promise<void> {
  await start();
  await create('web');
  await serve('east', 'web', { ip: '192.0.2.1' });
  await serve('west', 'web', { ip: '192.0.2.2' });
  await published(...BOTH);
}

describe('names of a federated service', () => {
  afterEach(() => federation.stop());

  it('lead to the clusters where it has ready endpoints, and go with it', async () => {
    await startServed();
    await setEndpoints('east', 'web', []);
    await published(...WEST_ONLY);
    await setEndpoints('east', 'web', ['10.0.0.2']);
    await published(...BOTH);
    await federation.client.of(Service).in('x').delete('web', { propagationPolicy: 'Background' });
    await published();
  });

  it('leave a cluster that is down, and come back with it', async () => {
    await startServed();
    federation.members.get('east')!.cut(true);
    await published(...WEST_ONLY);
    federation.members.get('east')!.cut(false);
    await published(...BOTH);
  });

  it('of the zone of a cluster go when the cluster leaves', async () => {
    await startServed();
    await federation.client.of(Cluster).delete('east');
    await published(...WEST_ONLY.filter((line) => !line.includes('.a.r.')));
  });

  it('are none for other types, and go when the type changes', async () => {
    await startServed();
    await create('inner', { type: 'ClusterIP' });
    await create('headless', { type: 'ClusterIP', clusterIP: 'None' });
    for (const name of ['inner', 'headless']) await setEndpoints('east', name, ['10.0.0.8']);
    const changes = { spec: { type: 'ClusterIP' } };
    await federation.client.of(Service).in('x').patch('web', { type: 'merge', changes });
    await published();
  });

  it('have the addresses of load balancers that have a name, and IPv6', async () => {
    await start();
    await create('web');
    names.set('lb.test', ['192.0.2.9', '2001:DB8:0::9']);
    await serve('east', 'web', { hostname: 'lb.test' }, { hostname: 'unknown.test' });
    await published(
      ...['web.x.fed.svc. A 192.0.2.9', 'web.x.fed.svc. AAAA 2001:db8::9'],
      ...['web.x.fed.svc.r. A 192.0.2.9', 'web.x.fed.svc.r. AAAA 2001:db8::9'],
      ...['web.x.fed.svc.a.r. A 192.0.2.9', 'web.x.fed.svc.a.r. AAAA 2001:db8::9'],
      'web.x.fed.svc.b.r. CNAME web.x.fed.svc.r.',
    );
    await federation.eventually(async () => (await reasons()).includes('HostnameNotResolved'));
    names.set('lb.test', ['192.0.2.10']);
    await federation.clock.advance(60_000);
    await federation.eventually(async () => (await zone.lines()).includes('web.x.fed.svc. A 192.0.2.10'));
  });

  it('are shown on the service, with the addresses of all members', async () => {
    await startServed();
    await setEndpoints('east', 'web', []);
    await federation.eventually(async () => {
      const { metadata, status } = await federation.client.of(Service).in('x').get('web');
      const ingresses = metadata.annotations?.['federation.kubernetes.io/service-ingresses'];
      return (
        ingresses === '{"items":[{"cluster":"west","items":[{"ip":"192.0.2.2"}]}]}' &&
        status?.loadBalancer?.ingress?.length === 2
      );
    });
    const { metadata } = await client('west').of(Service).in('x').get('web');
    expect(metadata.annotations).not.toHaveProperty('federation.kubernetes.io/service-ingresses');
  });

  it('are not sent again when nothing has changed, also after a restart', async () => {
    await startServed();
    const sent = zone.changes.length;
    await federation.restart();
    await federation.eventually(async () => zone.lists > 1);
    await federation.clock.advance(20_000);
    expect(zone.changes.slice(sent)).toEqual([]);
    expect(await zone.lines()).toEqual([...BOTH].sort());
  });

  it('of services that went while nobody looked are removed, and others stay', async () => {
    zone = new WatchedZone();
    const record = (name: string): RecordSet => ({ name, type: 'A', ttlSeconds: 60, values: ['192.0.2.7'] });
    const others = ['www.example.com.', 'old.x.other.svc.example.com.', 'fed.svc.example.com.'].map(record);
    await zone.change({ remove: [], ensure: [...others, record('old.x.fed.svc.r.example.com.')] });
    await launch();
    await published('www. A 192.0.2.7', 'old.x.other.svc. A 192.0.2.7', 'fed.svc. A 192.0.2.7');
  });

  it('that somebody else changed are put right', async () => {
    await startServed();
    await zone.change({ remove: [{ name: GLOBAL, type: 'A' }], ensure: [] });
    await federation.clock.advance(300_000);
    await published(...BOTH);
  });
});

describe('a provider that fails', () => {
  afterEach(() => federation.stop());

  it('is tried again, while everything else goes on', async () => {
    await start();
    zone.fail = () => new DnsError('Unavailable', 'no answer from the provider');
    await create('web');
    await serve('east', 'web', { ip: '192.0.2.1' });
    await federation.client.of(ConfigMap).create({ metadata: { name: 'c', namespace: 'x' } });
    await federation.eventually(async () =>
      client('west')
        .of(ConfigMap)
        .in('x')
        .get('c')
        .then(
          () => true,
          () => false,
        ),
    );
    await federation.eventually(async () => (await reasons()).includes('DNSFailed'));
    expect(await zone.lines()).toEqual([]);
    zone.fail = undefined;
    await federation.clock.advance(60_000);
    await federation.eventually(async () => (await zone.lines()).includes('web.x.fed.svc. A 192.0.2.1'));
  });

  it('with one service publishes the others', async () => {
    await start();
    zone.fail = (changes) =>
      changes?.ensure.some(({ name }) => name.startsWith('bad.')) ? new DnsError('Invalid', 'not this one') : undefined;
    for (const name of ['bad', 'web']) await create(name);
    for (const name of ['bad', 'web']) await serve('east', name, { ip: '192.0.2.1' });
    await federation.eventually(async () => (await zone.lines()).includes('web.x.fed.svc. A 192.0.2.1'));
    await federation.eventually(async () => (await reasons()).includes('DNSFailed'));
    expect((await zone.lines()).filter((line) => line.startsWith('bad.'))).toEqual([]);
  });

  it('without the zone says so', async () => {
    zone = new WatchedZone();
    Object.assign(zone, { name: 'other.test.' });
    await launch();
    await create('web');
    await serve('east', 'web', { ip: '192.0.2.1' });
    await federation.eventually(async () =>
      (await federation.client.of(Event).in('x').list()).items.some(
        ({ message }) => message === 'the DNS provider has no zone example.com.',
      ),
    );
  });
});

async function reasons(): Promise<readonly (string | undefined)[]> {
  return (await federation.client.of(Event).in('x').list()).items.map(({ reason }) => reason);
}
