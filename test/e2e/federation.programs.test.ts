/** A federation by its tool: a host cluster that runs the control plane as real pods, and two member clusters. */
import { execFile, execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/time/clock.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { connectionOf, loadKubeconfig } from '../../src/client/kubeconfig/kubeconfig.ts';
import { writeContext } from '../../src/client/kubeconfig/kubeconfig-file.ts';
import { httpsTransport } from '../../src/client/transport/http/https-transport.ts';
import { Deployment } from '../../src/kinds/groups/apps/deployment.ts';
import { StatefulSet } from '../../src/kinds/groups/apps/stateful-set.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../src/kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../src/kinds/groups/core/persistent-volume/persistent-volume.ts';
import { Endpoints } from '../../src/kinds/groups/core/service/endpoints.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { Cluster } from '../../src/kinds/groups/federation/cluster.ts';
import { bindMissing, dig, TestBind } from '../support/federation/bind.ts';
import { newDirectory, type Qd, runQd, startQd } from './program.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log('skipped: the pods of a control plane need a network of their own, and so root');

/** Ranges that no other test uses. */
const RANGES = { host: 154, east: 155, west: 156 };
/** Flags with a provider that needs no configuration on a machine of its cloud. */
const INIT = ['init', 'fed', '--dns-provider', 'google-clouddns', '--dns-zone-name', 'example.com.'];
const CHECKED = ['init', 'fed', '--dns-zone-name', 'example.com.'];
const HOST = ['--host-cluster-context', 'host'];

const bindIsMissing = bindMissing();
if (bindIsMissing) console.log(bindIsMissing);

describe.skipIf(!isRoot || bindIsMissing)('a federation', () => {
  const clusters = new Map<string, Qd>();
  const transports: { close(): void }[] = [];
  let kubeconfig = '';
  let bind: TestBind;

  const qdfed = (...args: string[]) => runQd([...args, '--kubeconfig', kubeconfig], { program: 'qdfed' });

  async function clientOf(context: string): Promise<Client> {
    const transport = httpsTransport(await connectionOf(await loadKubeconfig([kubeconfig]), context));
    transports.push(transport);
    return createClient(transport);
  }

  beforeAll(async () => {
    kubeconfig = join(await newDirectory(), 'kubeconfig');
    await Promise.all(
      Object.entries(RANGES).map(async ([name, number], index) => {
        const ranges = [
          '--cluster-cidr',
          `10.${number}.0.0/16`,
          '--service-cluster-ip-range',
          `10.${158 + index}.0.0/16`,
        ];
        const runtime =
          name === 'host' ? ['--runtime', 'process'] : ['--runtime', 'simulated', '--bind-address', '0.0.0.0'];
        clusters.set(name, await startQd({ flags: ['--name', name, '--nodes', '1', ...ranges, ...runtime] }));
      }),
    );
    for (const [name, { kubeconfig: file }] of clusters) {
      await writeContext(kubeconfig, { name, ...(await connectionOf(await loadKubeconfig([file]))) }, systemClock);
    }
  });

  afterAll(async () => {
    for (const transport of transports) transport.close();
    await bind?.stop();
    for (const { directory } of clusters.values())
      await runQd(['reset', '--yes', '--data-dir', join(directory, 'data')]);
    for (const cluster of clusters.values()) await cluster.stop();
  });

  /** Resolves when the name, below example.com, leads to these addresses; BIND does not report when a name changes. */
  async function untilResolved(name: string, ...addresses: readonly string[]): Promise<void> {
    let seen: readonly string[] = [];
    await expect
      .poll(
        () => {
          seen = bind.dig(`${name}.example.com`);
          return seen.filter((line) => isIP(line)).join();
        },
        { timeout: 30_000, interval: 200 },
      )
      .toBe(addresses.join());
  }

  /** The names of a service follow it: to both members, away from one that dies, and away with the service. */
  async function followNames(federation: Client): Promise<void> {
    const metadata = { name: 'web', namespace: 'default' };
    await federation.of(Service).create({
      ...{ metadata, spec: { type: 'LoadBalancer', ports: [{ port: 80 }], selector: { app: 'web' } } },
    } as never);
    for (const [index, name] of ['east', 'west'].entries()) {
      const member = await clientOf(name);
      const node = (await member.of(Node).list()).items[0]!;
      const labels = { 'topology.kubernetes.io/zone': `${name}-1`, 'topology.kubernetes.io/region': 'earth' };
      await member.of(Node).patch(node.metadata.name ?? '', { type: 'merge', changes: { metadata: { labels } } });
      await clusters.get(name)!.until('/api/v1/namespaces/default/services', (each) => each.metadata.name === 'web');
      // Simulated clusters have no load balancers.
      const changes = { status: { loadBalancer: { ingress: [{ ip: `192.0.2.${index + 1}` }] } } };
      await member.of(Service).in('default').patchStatus('web', { type: 'merge', changes });
    }
    await untilResolved('web.default.fed.svc', '192.0.2.1', '192.0.2.2');
    await untilResolved('web.default.fed.svc.east-1.earth', '192.0.2.1');
    await clusters.get('east')!.stop('SIGKILL');
    await untilResolved('web.default.fed.svc', '192.0.2.2');
    await untilResolved('web.default.fed.svc.east-1.earth', '192.0.2.2');
    expect(bind.dig('web.default.fed.svc.east-1.earth.example.com', 'CNAME')).toEqual([
      'web.default.fed.svc.earth.example.com.',
    ]);
    await federation.of(Service).in('default').delete('web', { propagationPolicy: 'Background' });
    await untilResolved('web.default.fed.svc');
  }

  test.each([
    [['init', 'fed'], 'required: --host-cluster-context, --dns-provider, --dns-zone-name'],
    [[...INIT, '--host-cluster-context', 'none'], '--host-cluster-context: there is no context "none"'],
    [['init', 'fed', ...HOST, '--dns-provider', 'x', '--dns-zone-name', 'example.com'], 'must end with a dot'],
    [
      [...CHECKED, ...HOST, '--dns-provider', 'x'],
      '--dns-provider x is unknown; known: coredns, rfc2136, google-clouddns',
    ],
    [
      [...CHECKED, ...HOST, '--dns-provider', 'rfc2136'],
      '--dns-provider-config (none was given): the key "server" of the section [Global] is required',
    ],
    [
      [...INIT, ...HOST, '--dns-provider-config', 'package.json'],
      '--dns-provider-config: the service account: the file is not the key of a service account',
    ],
    [
      [...INIT, ...HOST, '--dns-provider-config', '/none'],
      '--dns-provider-config /none cannot be used: it does not exist',
    ],
    [['init', 'host', ...INIT.slice(2), ...HOST], 'the client configuration has a context "host" already'],
    [['init', 'Fed', ...INIT.slice(2), ...HOST], 'the federation name "Fed" is invalid'],
    [['join', 'nowhere', ...HOST], 'there is no context "nowhere"'],
    [['join', '1east', ...HOST], 'the cluster name "1east" is invalid'],
    [['join', 'east', '--secret-name', 'A_b', ...HOST], 'the secret name "A_b" is invalid'],
    [['join', 'east', ...HOST], 'hosts no federation in the namespace federation-system; run qdfed init'],
    [['join', 'east'], 'name the host cluster with --host-cluster-context'],
    [['unjoin', 'east'], 'name the host cluster with --host-cluster-context'],
  ])('%j is rejected with exit code 1, and creates nothing', async (args, message) => {
    const { code, stderr } = await qdfed(...args);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) });
    expect(
      (await (await clientOf('host')).of(Namespace).list()).items.map(({ metadata }) => metadata.name),
    ).not.toContain('federation-system');
  });

  test('CoreDNS needs no configuration: the flags that init requires suffice', async () => {
    const { code, stderr } = await qdfed(...CHECKED, ...HOST, '--dns-provider', 'coredns', '--dry-run');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('a dry run prints the objects, and creates nothing', async () => {
    const { code, stdout } = await qdfed(...INIT, ...HOST, '--dry-run');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^kind: PersistentVolumeClaim$/m);
    expect((await (await clientOf('host')).of(Namespace).list()).items).toHaveLength(4);
  });

  test('the DNS of a cluster leads to its own services while they are healthy, and else to the federation', async () => {
    const host = await clientOf('host');
    const metadata = { name: 'kube-dns', namespace: 'kube-system' };
    await host.of(ConfigMap).create({ metadata, data: { federations: 'fed=example.com' } });
    const [subset] = (await host.of(Endpoints).in('kube-system').get('kube-dns')).subsets ?? [];
    const server = { address: subset!.addresses![0]!.ip, port: subset!.ports![0]!.port };
    await expect
      .poll(() => dig(server, 'web.default.fed.svc.cluster.local', 'CNAME'))
      .toEqual(['web.default.fed.svc.example.com.']);
    const own = dig(server, 'kubernetes.default.svc.cluster.local');
    expect(own).toHaveLength(1);
    await expect.poll(() => dig(server, 'kubernetes.default.fed.svc.cluster.local')).toEqual(own);
  });

  test('the DNS of a cluster asks the servers of other domains that its configuration names', async () => {
    const host = await clientOf('host');
    const [subset] = (await host.of(Endpoints).in('kube-system').get('kube-dns')).subsets ?? [];
    const server = { address: subset!.addresses![0]!.ip, port: subset!.ports![0]!.port };
    const other = createSocket('udp4').bind(0, '127.0.0.1');
    await once(other, 'listening');
    other.on('message', (query, client) => other.send(answered(query, [192, 0, 2, 123]), client.port, client.address));
    const maps = host.of(ConfigMap).in('kube-system');
    const configure = (stubDomains: string | null) =>
      maps.patch('kube-dns', { type: 'merge', changes: { data: { stubDomains } } });
    await configure(JSON.stringify({ 'acme.test': [`127.0.0.1:${other.address().port}`] }));
    // Runs in a separate process: this one answers in the meantime.
    const resolved = async () => (await digAsync(server, 'db.acme.test')).trim();
    await expect.poll(resolved).toBe('192.0.2.123');
    await configure(null);
    await expect.poll(resolved).not.toBe('192.0.2.123');
    other.close();
  });

  test('is created, joined, used, left and deleted', { timeout: 180_000 }, async () => {
    const auth = ['--apiserver-enable-basic-auth', '--apiserver-enable-token-auth'];
    const before = (await loadKubeconfig([kubeconfig])).currentContext;
    const host = await clientOf('host');
    const node = (await host.of(Node).list()).items[0]!;
    const { address } = node.status!.addresses!.find(({ type }) => type === 'InternalIP')!;
    bind = await TestBind.start({ zone: 'example.com.', address });
    const configFile = join(await newDirectory(), 'dns.conf');
    await writeFile(configFile, bind.config());
    const created = await qdfed(
      ...[...CHECKED, '--dns-provider', 'rfc2136', '--dns-provider-config', configFile, ...HOST],
      ...['--api-server-service-type', 'NodePort', ...auth],
      '--controllermanager-arg-overrides=--cluster-unavailable-delay=2s,--cluster-monitor-period=500ms',
    );
    expect(created).toMatchObject({ code: 0, stderr: '' });
    const config = await loadKubeconfig([kubeconfig]);
    expect(config.currentContext).toBe(before);
    expect([...config.users.keys()]).toEqual(expect.arrayContaining(['fed', 'fed-basic-auth']));

    const federation = await clientOf('fed');
    // Rule 3: the namespace is the operator's to create.
    expect((await federation.of(Namespace).list()).items).toEqual([]);
    await federation.of(Namespace).create({ metadata: { name: 'default' } });
    expect(await qdfed('join', 'east', ...HOST)).toMatchObject({ code: 0 });
    expect(
      await qdfed('join', 'w', '--cluster-context', 'west', '--secret-name', 'west.secret', ...HOST),
    ).toMatchObject({ code: 0 });
    expect((await qdfed('join', 'east', ...HOST)).stderr).toContain('is a member of the federation fed already');
    await host.of(Secret).in('federation-system').get('west.secret');
    expect((await federation.of(Cluster).list()).items.map(({ metadata }) => metadata.name)).toEqual(['east', 'w']);

    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'nginx' }] } };
    await federation.of(Deployment).create({
      metadata: { name: 'web', namespace: 'default' },
      spec: { replicas: 4, selector: { matchLabels: labels }, template },
    });
    const collection = '/apis/apps/v1/namespaces/default/deployments';
    for (const name of ['east', 'west']) {
      const found = await clusters
        .get(name)!
        .until(collection, ({ metadata, spec }) => metadata.name === 'web' && spec.replicas === 2);
      expect(found.status).toBeDefined();
    }
    const listed = await qdfed('get', 'clusters', ...HOST);
    expect(listed.stdout).toMatch(/^NAME +STATUS +VERSION +REGION +ZONES +AGE/);
    expect(listed.stdout).toMatch(/^east +Ready +v1\.\d+\S* +- +- +\d+s$/m);
    const shown = await qdfed('status', 'deploy', 'web', ...HOST);
    expect(shown.stdout).toMatch(/^Deployment default\/web\nCLUSTER +STATE +DESIRED +ACTUAL +READY +OVERRIDES +WHY/);
    expect(shown.stdout).toMatch(/^w +in sync +2 +2 +\d +0 +weight 1$/m);
    expect((await qdfed('status', 'deploy', 'none', ...HOST)).stderr).toContain(
      'Deployment default/none does not exist',
    );

    expect((await qdfed('federate', 'boats.example.com', ...HOST)).stderr).toContain('has no kind boats.example.com');
    const federated = await qdfed('federate', 'statefulsets.apps', ...HOST);
    expect(federated).toMatchObject({ code: 0, stdout: expect.stringContaining('statefulsets.apps in w') });

    const set = { serviceName: 'a', replicas: 4, selector: { matchLabels: labels }, template };
    await federation.of(StatefulSet).create({ metadata: { name: 'db', namespace: 'default' }, spec: set });
    await clusters.get('east')!.until('/apis/apps/v1/namespaces/default/statefulsets', ({ spec }) => spec.replicas > 0);
    await followNames(federation);

    const dns = async () => (await clientOf('west')).of(ConfigMap).in('kube-system').get('kube-dns');
    expect((await dns()).data).toEqual({ federations: 'fed=example.com' });
    // The context that it joined with is known.
    expect(await qdfed('unjoin', 'w', ...HOST)).toMatchObject({ code: 0, stdout: expect.stringContaining('in west') });
    expect((await dns()).data ?? {}).toEqual({});
    expect((await qdfed('unjoin', 'w', ...HOST)).stderr).toContain('is not a member');

    expect(await qdfed('join', 'w', '--cluster-context', 'west', ...HOST)).toMatchObject({ code: 0 });
    await federation.of(Cluster).patch('w', { type: 'merge', changes: { metadata: { annotations: null } } });
    expect((await qdfed('unjoin', 'w', '--cluster-context', 'none', ...HOST)).stderr).toContain('no context "none"');
    const left = await qdfed('unjoin', 'w', ...HOST);
    expect(left).toMatchObject({ code: 0, stdout: expect.stringContaining('no context leads to the cluster') });
    expect((await federation.of(Cluster).list()).items.map(({ metadata }) => metadata.name)).toEqual(['east']);

    await host.of(Namespace).delete('federation-system');
    await clusters.get('host')!.untilGone('/api/v1/namespaces', 'federation-system');
    const [volume] = (await host.of(PersistentVolume).list()).items;
    expect(volume?.spec.persistentVolumeReclaimPolicy).toBe('Retain');
  });
});

/** A response with one address. The question begins after the header and ends four bytes after its name. */
function answered(query: Buffer, address: readonly number[]): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address]);
  return Buffer.concat([header, query.subarray(12, end), record]);
}

const digAsync = async ({ address, port }: { address: string; port: number }, name: string) =>
  (await promisify(execFile)('dig', [`@${address}`, '-p', String(port), '+short', name, 'A'])).stdout;

/** Runs on a separate machine, because port 443 of this one may be in use. */
describe.skipIf(!isRoot)('a federation behind a load balancer', () => {
  const space = `qdfed${process.pid % 100_000}`;
  const enter = ['/usr/bin/nsenter', `--net=/run/netns/${space}`];
  const ADDRESS = '192.168.229.1';
  // On other architectures, older releases of etcd want a variable that a pod does not get from the host.
  const etcd = process.arch === 'x64' && existsSync('/usr/bin/etcd') ? ['--etcd-image', 'host'] : [];
  let host: Qd | undefined;

  beforeAll(async () => {
    execFileSync('ip', ['netns', 'add', space]);
    const commands = `link set lo up
      link add eth0 type veth peer name eth1
      addr add ${ADDRESS}/24 dev eth0
      link set eth0 up
      link set eth1 up
      route add default via 192.168.229.254 dev eth0`;
    execFileSync('ip', ['-n', space, '-batch', '-'], { input: `${commands}\n` });
    const ranges = ['--cluster-cidr', '10.157.0.0/17', '--service-cluster-ip-range', '10.157.128.0/17'];
    const flags = ['--name', 'host', '--nodes', '1', '--runtime', 'process', '--ingress=false', ...ranges];
    host = await startQd({ enter, flags });
  });

  afterAll(async () => {
    if (host) await runQd(['reset', '--yes', '--data-dir', join(host.directory, 'data')], { enter });
    await host?.stop();
    execFileSync('ip', ['netns', 'delete', space]);
  });

  test('has the address and the port of its service, and may keep its state in an etcd', {
    timeout: 120_000,
  }, async () => {
    const { kubeconfig, directory } = host!;
    const provider = join(directory, 'provider.conf');
    await writeFile(provider, '[Global]\netcd-endpoints = http://127.0.0.1:1\nzones = example.com.\n');
    const flags = ['--dns-provider', 'coredns', '--dns-provider-config', provider, '--dns-zone-name', 'example.com.'];
    const { code, stdout, stderr } = await runQd(
      ['init', 'fed', ...HOST, ...flags, ...etcd, '--kubeconfig', kubeconfig],
      { program: 'qdfed', enter },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^service +LoadBalancer at https://${ADDRESS} `, 'm'));
    const config = await loadKubeconfig([kubeconfig]);
    expect((await connectionOf(config, 'fed')).server).toBe(`https://${ADDRESS}`);
  });
});
