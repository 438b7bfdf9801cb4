import { describe, expect, it } from 'vitest';
import { bridgeIn, bridgeOf, cniConfiguration, cniFile } from '../network/cni.ts';
import { containerdConfig } from './config-file.ts';
import { configuredRegistries, hostsFile } from './daemon.ts';
import { hasCapability, type Machine, versionOf } from './machine.ts';
import { ownPaths } from './paths.ts';

const machine: Machine = {
  containerd: '/usr/bin/containerd',
  containerdVersion: '1.6.20',
  usesSystemdCgroups: false,
  mayLowerOomScore: false,
  snapshotter: 'overlayfs',
  cniPlugins: '/usr/lib/cni',
  defaultSpec: undefined,
};
const paths = ownPaths('/data/node "1"');
const config = (changes: Partial<Machine> = {}) =>
  containerdConfig({ paths, machine: { ...machine, ...changes }, sandboxImage: 'pause:1', streamAddress: '10.0.0.1' });

/** The lines of a table. */
const table = (text: string, head: string) => text.split('\n\n').find((part) => part.startsWith(`[${head}]`)) ?? '';

describe('the configuration of containerd', () => {
  it('is of version 2 for containerd 1, and fits the machine', () => {
    const text = config();
    expect(text).toContain('version = 2\nroot = "/data/node \\"1\\"/root"');
    const cri = '"plugins"."io.containerd.grpc.v1.cri"';
    expect(table(text, cri)).toContain('sandbox_image = "pause:1"\nrestrict_oom_score_adj = true');
    expect(table(text, cri)).toContain('stream_server_address = "10.0.0.1"');
    expect(table(text, `${cri}."cni"`)).toContain('bin_dir = "/usr/lib/cni"');
    expect(table(text, `${cri}."containerd"`)).toContain('snapshotter = "overlayfs"');
    expect(config({ mayLowerOomScore: true })).toContain('restrict_oom_score_adj = false');
    expect(config({ usesSystemdCgroups: true })).toContain('SystemdCgroup = true');
  });

  it('is of version 3 for containerd 2', () => {
    const text = config({ containerdVersion: '2.1.0', snapshotter: 'native' });
    expect(text).toContain('version = 3\n');
    expect(table(text, '"plugins"."io.containerd.cri.v1.images"."pinned_images"')).toContain('sandbox = "pause:1"');
    expect(table(text, '"plugins"."io.containerd.cri.v1.images"')).toContain('snapshotter = "native"');
    expect(table(text, '"plugins"."io.containerd.cri.v1.runtime"')).toContain('restrict_oom_score_adj = true');
  });

  it.each([
    ['2.0.4', 'bin_dir = "/usr/lib/cni"'],
    ['2.1.0', 'bin_dirs = ["/usr/lib/cni"]'],
    ['2.3.0', 'bin_dirs = ["/usr/lib/cni"]'],
  ])('names the folder of network plugins as containerd %s reads it', (containerdVersion, line) => {
    const cni = table(config({ containerdVersion }), '"plugins"."io.containerd.cri.v1.runtime"."cni"').split('\n');
    expect(cni.filter((each) => each.startsWith('bin_dir'))).toEqual([line]);
  });

  it('has a short socket wherever its directory is', () => {
    expect(ownPaths('/data').socket).toBe('/data/containerd.sock');
    const long = ownPaths(`/${'long/'.repeat(30)}`).socket;
    expect(long).toMatch(/^\/run\/quarterdeck\/[0-9a-f]{16}\/containerd\.sock$/);
    expect(ownPaths(`/${'long/'.repeat(31)}`).socket).not.toBe(long);
  });

  it.each([
    ['containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3', '1.6.20'],
    ['containerd github.com/containerd/containerd/v2 v2.0.4 1a43cb6a1035441f9aca8f5666a9b3ef9e70ab20', '2.0.4'],
    ['containerd containerd.io 1.7.27 05044ec0a9a75232cad458027ca83437aae3f4da', '1.7.27'],
  ])('knows the version of %s', (text, version) => {
    expect(versionOf(text)).toBe(version);
  });

  it('reads capabilities', () => {
    const status = 'Name:\tnode\nCapEff:\t000001fffeffffff\n';
    expect([hasCapability(status, 24n), hasCapability(status, 23n), hasCapability('', 1n)]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe('registries', () => {
  const hosts = (registry: string, mirrors: readonly string[], insecure: readonly string[] = []) =>
    hostsFile(registry, { mirrors: { [registry]: mirrors }, insecure });

  it('are tried after their mirrors', () => {
    expect(hosts('docker.io', ['http://10.0.0.1:5000'])).toBe(
      'server = "https://registry-1.docker.io"\n\n["host"."http://10.0.0.1:5000"]\ncapabilities = ["pull","resolve"]\n',
    );
  });

  it('that are insecure are tried with any certificate, then without TLS, and each only once', () => {
    expect(hosts('registry.test', [], ['registry.test'])).toBe(
      'server = "http://registry.test"\n\n' +
        '["host"."https://registry.test"]\ncapabilities = ["pull","resolve"]\nskip_verify = true\n\n' +
        '["host"."http://registry.test"]\ncapabilities = ["pull","resolve"]\n',
    );
  });

  it('can have mirrors that are insecure themselves', () => {
    expect(hosts('docker.io', ['https://mirror.test/'], ['mirror.test'])).toBe(
      'server = "https://registry-1.docker.io"\n\n' +
        '["host"."https://mirror.test"]\ncapabilities = ["pull","resolve"]\nskip_verify = true\n',
    );
  });

  it('have a file each', () => {
    const settings = { mirrors: { 'docker.io': [] }, insecure: ['docker.io', 'registry.test'] };
    expect(configuredRegistries(settings)).toEqual(['docker.io', 'registry.test']);
  });
});

describe('the network of a node', () => {
  const network = (podCIDRs: readonly string[], hasIptables = true) =>
    JSON.parse(cniConfiguration({ name: 'node', podCIDRs, addresses: '/data/addresses', hasIptables }));

  it('has a bridge of its own, with the addresses of the node', () => {
    const { plugins } = network(['10.1.0.0/24', 'fd00::/64']);
    expect(plugins[0]).toMatchObject({ type: 'bridge', bridge: bridgeOf('node'), isGateway: true, ipMasq: true });
    expect(plugins[0].ipam).toMatchObject({
      type: 'host-local',
      dataDir: '/data/addresses',
      ranges: [[{ subnet: '10.1.0.0/24' }], [{ subnet: 'fd00::/64' }]],
      routes: [{ dst: '0.0.0.0/0' }, { dst: '::/0' }],
    });
    expect(plugins[1]).toMatchObject({ type: 'portmap' });
    expect(bridgeOf('node').length).toBeLessThanOrEqual(15);
    expect(bridgeOf('node')).not.toBe(bridgeOf('other'));
  });

  it('has a file that names its bridge', () => {
    expect(bridgeIn(cniFile('node'))).toBe(bridgeOf('node'));
    expect(bridgeIn('10-calico.conflist')).toBeUndefined();
  });

  it('does without what needs iptables', () => {
    const { plugins } = network(['10.1.0.0/24'], false);
    expect(plugins).toHaveLength(1);
    expect(plugins[0].ipMasq).toBe(false);
  });
});
