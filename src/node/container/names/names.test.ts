import { describe, expect, it } from 'vitest';
import { seenPod } from '../../../../test/support/node/seen-pod.ts';
import { dnsOf, parseResolvConf } from './dns.ts';
import { kernelHostname, podHostname } from './hostname.ts';
import { hostsFileOf } from './hosts-file.ts';

const DOMAIN = 'cluster.local';
const LONG = 'a'.repeat(62);

describe('the host name of a pod', () => {
  it.each([
    [{}, {}, 'web', ''],
    [{ hostname: 'db-0' }, {}, 'db-0', ''],
    [{ hostname: 'db-0', subdomain: 'db' }, {}, 'db-0', 'db.shop.svc.cluster.local'],
    [{ hostnameOverride: 'some.name', subdomain: 'db' }, {}, 'some.name', ''],
    // At most 63 characters, and no dash or dot at the end.
    [{}, { name: `${LONG}bc` }, `${LONG}b`, ''],
    [{}, { name: `${LONG}-.b` }, LONG, ''],
  ])('with %j', (spec, metadata, hostname, domain) => {
    expect(podHostname(seenPod(spec, metadata), DOMAIN)).toEqual({ hostname, domain });
  });

  it('is rejected when it is no label', () => {
    expect(() => podHostname(seenPod({ hostname: 'A' }), DOMAIN)).toThrow(
      /^pod Hostname "A" is not a valid DNS label: /,
    );
    expect(() => podHostname(seenPod({ subdomain: '_' }), DOMAIN)).toThrow(
      /^pod Subdomain "_" is not a valid DNS label: /,
    );
  });

  it('is the full name in the kernel if the pod wants that', () => {
    const spec = { subdomain: 'db', setHostnameAsFQDN: true };
    expect(kernelHostname(seenPod(spec), DOMAIN)).toBe('web.db.shop.svc.cluster.local');
    expect(kernelHostname(seenPod({ ...spec, setHostnameAsFQDN: false }), DOMAIN)).toBe('web');
    expect(kernelHostname(seenPod({ hostNetwork: true }), DOMAIN)).toBe('');
    expect(() => kernelHostname(seenPod({ ...spec, hostname: LONG }), DOMAIN)).toThrow(
      `Failed to construct FQDN from pod hostname and cluster domain, FQDN ${LONG}.db.shop.svc.cluster.local is too long (64 characters is the max, 88 characters requested)`,
    );
  });
});

describe('the hosts file', () => {
  const options = { clusterDomain: DOMAIN, podIPs: ['10.1.0.5'], nodeHosts: '127.0.0.1 localhost\n' };
  const hostAliases = [
    { ip: '1.2.3.4', hostnames: ['foo', 'bar'] },
    { ip: '5.6.7.8', hostnames: ['baz'] },
  ];
  const head = [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'fe00::0\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
  ];

  it('names the pod, and its aliases', () => {
    expect(hostsFileOf(seenPod({ hostAliases }), options)).toBe(
      [...head, '10.1.0.5\tweb', '', '# Entries added by HostAliases.', '1.2.3.4\tfoo\tbar', '5.6.7.8\tbaz', ''].join(
        '\n',
      ),
    );
  });

  it('has the full name of a pod with a subdomain, for every address', () => {
    const podIPs = ['10.1.0.5', 'fd00::5'];
    expect(hostsFileOf(seenPod({ subdomain: 'db' }), { ...options, podIPs })).toBe(
      [...head, '10.1.0.5\tweb.db.shop.svc.cluster.local\tweb', 'fd00::5\tweb.db.shop.svc.cluster.local\tweb', ''].join(
        '\n',
      ),
    );
  });

  it("is the node's on its network", () => {
    expect(hostsFileOf(seenPod({ hostNetwork: true }), { ...options, podIPs: [] })).toBe(
      '# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n',
    );
  });

  it('waits for an address', () => {
    expect(hostsFileOf(seenPod(), { ...options, podIPs: [] })).toBeUndefined();
  });
});

describe('DNS', () => {
  const node = { servers: ['8.8.8.8'], searches: ['example.com'], options: ['timeout:1'] };
  const options = { clusterDns: ['10.96.0.10'], clusterDomain: DOMAIN, node };
  const cluster = {
    servers: ['10.96.0.10'],
    searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'example.com'],
    options: ['ndots:5'],
  };

  it.each([
    [{ dnsPolicy: 'ClusterFirst' }, cluster],
    [{ dnsPolicy: 'ClusterFirst', hostNetwork: true }, node],
    [{ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, cluster],
    [{ dnsPolicy: 'Default' }, node],
    [
      { dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1'], searches: ['x'], options: [{ name: 'edns0' }] } },
      { servers: ['1.1.1.1'], searches: ['x'], options: ['edns0'] },
    ],
    [
      {
        dnsPolicy: 'ClusterFirst',
        dnsConfig: {
          nameservers: ['1.1.1.1', '10.96.0.10'],
          searches: ['x', 'example.com'],
          options: [{ name: 'ndots', value: '2' }, { name: 'rotate' }],
        },
      },
      { servers: ['10.96.0.10', '1.1.1.1'], searches: [...cluster.searches, 'x'], options: ['ndots:2', 'rotate'] },
    ],
  ])('of %j', (spec, dns) => {
    expect(dnsOf(seenPod(spec), options)).toEqual({ dns, events: [] });
  });

  it("falls back to the node's without a cluster DNS", () => {
    const { dns, events } = dnsOf(seenPod({ dnsPolicy: 'ClusterFirst' }), { ...options, clusterDns: [] });
    expect(dns).toEqual(node);
    expect(events).toEqual([
      {
        type: 'Warning',
        reason: 'MissingClusterDNS',
        message:
          'pod: "web_shop(u-1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
      },
    ]);
  });

  it('drops what resolvers do not take, and says so', () => {
    const dnsConfig = { nameservers: ['1', '2', '3'], searches: Array.from({ length: 30 }, (_, at) => `s${at}`) };
    const { dns, events } = dnsOf(seenPod({ dnsPolicy: 'ClusterFirst', dnsConfig }), options);
    expect(dns.servers).toEqual(['10.96.0.10', '1', '2']);
    expect(dns.searches).toHaveLength(32);
    expect(events.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
      'DNSConfigForming: Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.96.0.10 1 2',
      `DNSConfigForming: Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${dns.searches.join(' ')}`,
    ]);
  });

  it('keeps the search line below 2048 characters, and domains below 253', () => {
    const long = Array.from({ length: 10 }, (_, at) => `${at}${'x'.repeat(249)}`);
    const searches = ['y'.repeat(254), ...long];
    const { dns } = dnsOf(seenPod({ dnsPolicy: 'None', dnsConfig: { nameservers: ['1'], searches } }), options);
    expect(dns.searches).toEqual(long.slice(0, 8));
  });

  it('reads a resolv.conf', () => {
    const text = `# comment
nameserver 1.1.1.1
nameserver 8.8.8.8
search old.example
search a.example. b.example .
options ndots:1 rotate
options ndots:3
`;
    expect(parseResolvConf(text)).toEqual({
      servers: ['1.1.1.1', '8.8.8.8'],
      searches: ['a.example', 'b.example'],
      options: ['ndots:3', 'rotate'],
    });
  });
});
