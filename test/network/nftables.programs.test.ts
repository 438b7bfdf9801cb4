/** Rules as nftables, with real packets between network namespaces. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silent } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { LocalForwarding } from '../../src/network/kernel/forwarding.ts';
import { LocalKernel } from '../../src/network/kernel/local-kernel.ts';
import { NftablesProxy } from '../../src/network/nftables/nftables-proxy.ts';
import { type Destination, type ExternalTraffic, NO_RULES, type PortRules } from '../../src/network/rules/rule-set.ts';
import { describeApplier, type Site } from './contract.ts';
import { type Lab, openLab } from './lab/lab.ts';
import type { Peer } from './lab/peer.ts';

const NFT = '/usr/sbin/nft';
const PERL = '/usr/bin/perl';
const TABLE = 'qd-test';

const canRun = process.getuid?.() === 0 && existsSync(NFT) && existsSync('/usr/sbin/ip') && existsSync(PERL);
if (!canRun && process.env.CI === 'true') throw new Error('the tests of nftables need root, nft, ip and perl');

async function openSite(): Promise<Site> {
  const lab = await openLab(3);
  const kernel = new LocalKernel({ nft: NFT, perl: PERL, enter: lab.enter });
  const applier = new NftablesProxy({
    ...{ kernel, table: TABLE, podRanges: lab.podRanges, clock: systemClock, log: silent },
  });
  const backends = await Promise.all(
    lab.pods.map(async ({ peer, address }) => ({ peer, address, port: await peer.listen(8080) })),
  );
  return {
    ...{ applier, backends, client: lab.node },
    clusterIP: (index) => `10.96.0.${index + 10}`,
    nodePortAddress: lab.nodeAddress,
    nodePort: (index) => 30_100 + index,
    async stop() {
      await applier.close();
      await lab.stop();
    },
  };
}

describe.skipIf(!canRun)('nftables (needs root, nft, ip and perl)', () => {
  describeApplier(openSite);

  describe('what sockets cannot do', () => {
    let lab: Lab;
    let proxy: NftablesProxy;
    beforeAll(async () => {
      lab = await openLab(3);
      const kernel = new LocalKernel({ nft: NFT, perl: PERL, enter: lab.enter });
      proxy = new NftablesProxy({ kernel, table: TABLE, podRanges: lab.podRanges, clock: systemClock, log: silent });
      for (const { peer } of lab.pods) await peer.listen(8080);
    });
    afterAll(() => lab?.stop(), 30_000);

    const CLUSTER_IP = '10.96.0.10';
    const to = (index: number, isLocal = true): Destination => ({
      address: lab.pods[index]!.address,
      port: 8080,
      isLocal,
    });
    const rules = (endpoints: readonly Destination[], more: Partial<PortRules> = {}): PortRules => ({
      ...{ id: 'ns/web:80/TCP/4', family: 4, protocol: 'tcp', clusterIP: CLUSTER_IP, port: 80 },
      ...{ affinitySeconds: undefined, internal: { endpoints, otherwise: 'reject' }, external: undefined },
      ...{ serving: endpoints, ...more },
    });
    const external = (more: Partial<ExternalTraffic>): ExternalTraffic => ({
      ...{ addresses: [], loadBalancerAddresses: [], nodePort: 0, allowedSources: undefined, policy: 'Cluster' },
      ...{ outside: { endpoints: [to(0)], otherwise: 'reject' }, inside: [to(0)], ...more },
    });
    const apply = (...ports: PortRules[]) =>
      proxy.apply({ services: new Map([['ns/web', { ...NO_RULES, ports }]]), serviceRanges: ['10.96.0.0/16'] });
    const ask = (peer: Peer, address: string, port: number, timeout = 3_000) =>
      peer.request({ protocol: 'tcp', address, port, timeout });

    it('preserves the addresses of pods, and lets a pod reach itself', async () => {
      await apply(rules([to(1)]));
      expect(await ask(lab.pods[0]!.peer, CLUSTER_IP, 80)).toBe(`pod-1 ${lab.pods[0]!.address}`);
      expect(await ask(lab.pods[1]!.peer, CLUSTER_IP, 80)).toBe('pod-1 10.244.7.1');
    });

    it('has connection tracking forget what kube-proxy would, and that of the machine is as before', async () => {
      const setting = (end: string) => `/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_${end}`;
      const files = ['close_wait', 'established'].map(setting);
      const own = files.map((file) => readFileSync(file, 'utf8'));
      const seen = () =>
        execFileSync(lab.enter[0]!, [...lab.enter.slice(1), 'cat', ...files], { encoding: 'utf8' })
          .trim()
          .split('\n');
      execFileSync(lab.enter[0]!, [...lab.enter.slice(1), 'tee', ...files], { input: '500000' });
      expect(seen()).toEqual(['500000', '500000']);
      await proxy.close();
      await apply(rules([to(1)]));
      expect(seen()).toEqual(['3600', '86400']);
      expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(own);
    });

    it('rejects other ports of a cluster IP, and drops what goes to an address that no service has', async () => {
      await apply(rules([to(1)]));
      await expect(ask(lab.pods[0]!.peer, CLUSTER_IP, 81)).rejects.toThrow('ECONNREFUSED');
      await expect(ask(lab.pods[0]!.peer, '10.96.9.9', 80, 300)).rejects.toThrow('timeout');
    });

    it('hides clients from outside, unless traffic stays on the node', async () => {
      await apply(rules([to(0)], { external: external({ nodePort: 30_080 }) }));
      expect(await ask(lab.outside, lab.nodeAddress, 30_080)).toBe('pod-0 10.244.7.1');
      await apply(rules([to(0)], { external: external({ nodePort: 30_080, policy: 'Local' }) }));
      expect(await ask(lab.outside, lab.nodeAddress, 30_080)).toBe('pod-0 192.168.77.2');
    });

    it('drops traffic from outside when endpoints are elsewhere, and serves pods and the node all the same', async () => {
      const elsewhere = { outside: { endpoints: [], otherwise: 'drop' as const }, inside: [to(2, false)] };
      await apply(rules([to(2)], { external: external({ nodePort: 30_080, policy: 'Local', ...elsewhere }) }));
      await expect(ask(lab.outside, lab.nodeAddress, 30_080, 300)).rejects.toThrow('timeout');
      expect(await ask(lab.pods[0]!.peer, lab.nodeAddress, 30_080)).toContain('pod-2');
      expect(await ask(lab.node, lab.nodeAddress, 30_080)).toContain('pod-2');
    });

    it('serves addresses of load balancers to allowed sources only', async () => {
      const balancer = (allowedSources: readonly string[]) =>
        apply(rules([to(0)], { external: external({ loadBalancerAddresses: ['192.168.77.50'], allowedSources }) }));
      await balancer(['192.168.77.0/24', '10.0.0.0/8']);
      expect(await ask(lab.node, '192.168.77.50', 80)).toContain('pod-0');
      expect(await ask(lab.pods[1]!.peer, '192.168.77.50', 80)).toContain('pod-0');
      await balancer(['10.244.7.4/32']);
      await expect(ask(lab.pods[1]!.peer, '192.168.77.50', 80, 300)).rejects.toThrow('timeout');
      expect(await ask(lab.pods[2]!.peer, '192.168.77.50', 80)).toContain('pod-0');
    });

    it('serves IPv6', async () => {
      const endpoints = [{ address: lab.pods[1]!.address6, port: 8080, isLocal: true }];
      const own = { id: 'ns/web:80/TCP/6', family: 6 as const, clusterIP: 'fd00:96::10' };
      await apply(rules([to(0)]), rules(endpoints, own));
      expect(await ask(lab.pods[0]!.peer, 'fd00:96::10', 80)).toBe(`pod-1 ${lab.pods[0]!.address6}`);
      expect(await ask(lab.node, 'fd00:96::10', 80)).toContain('pod-1');
      await apply(rules([to(0)]), rules(endpoints, { ...own, affinitySeconds: 60 }));
      expect(await ask(lab.node, 'fd00:96::10', 80)).toContain('pod-1');
    });

    describe.each([
      ['iptables', ['/usr/sbin/iptables', '-P', 'FORWARD', 'DROP'], ['/usr/sbin/iptables', '-S', 'FORWARD']],
      [
        'nftables',
        [NFT, 'add table inet fw; add chain inet fw passing { type filter hook forward priority 5; policy drop; }'],
        [NFT, 'list', 'table', 'inet', 'fw'],
      ],
    ])('behind a firewall of the machine that forwards nothing: %s', (_name, close, show) => {
      const run = (command: readonly string[]) =>
        execFileSync(lab.enter[0]!, [...lab.enter.slice(1), ...command], { encoding: 'utf8' });
      const OWNER = 'qd-test-forwarding';

      it('pods reach services, each other and the outside, and are reached from there', async () => {
        const [first, second] = lab.pods;
        const outside = await lab.outside.listen(9090).catch(() => 9090);
        const forwarding = new LocalForwarding({
          ...{ nft: NFT, iptables: '/usr/sbin/iptables', ip6tables: '/usr/sbin/ip6tables', enter: lab.enter },
        });
        await apply(
          rules([to(1)], {
            external: external({ nodePort: 30_080 }),
          }),
        );
        const requests = (timeout: number) =>
          [
            ask(first!.peer, CLUSTER_IP, 80, timeout),
            ask(first!.peer, second!.address, 8080, timeout),
            ask(first!.peer, '192.168.77.2', outside, timeout),
            ask(lab.outside, lab.nodeAddress, 30_080, timeout),
          ] as const;
        run(close);
        const before = run(show);
        for (const { status } of await Promise.allSettled(requests(500))) expect(status).toBe('rejected');
        await forwarding.admit(OWNER, lab.podRanges);
        await forwarding.admit(OWNER, lab.podRanges);
        const answers = await Promise.all(requests(3_000));
        expect(answers.map((answer) => answer.split(' ')[0])).toEqual(['pod-1', 'pod-1', 'outside', 'pod-0']);
        await forwarding.remove(OWNER);
        expect(run(show)).toBe(before);
        run(show[0] === NFT ? [NFT, 'delete', 'table', 'inet', 'fw'] : [show[0]!, '-P', 'FORWARD', 'ACCEPT']);
      });
    });

    it('replaces the whole table after somebody has changed it', async () => {
      await apply(rules([to(0)]));
      execFileSync(lab.enter[0]!, [...lab.enter.slice(1), NFT, 'delete', 'table', 'inet', TABLE]);
      await expect(apply(rules([to(1)]))).rejects.toThrow('No such file or directory');
      await apply(rules([to(1)]));
      expect(await ask(lab.node, CLUSTER_IP, 80)).toContain('pod-1');
    });

    it('leaves nothing', async () => {
      await proxy.close();
      const tables = execFileSync(lab.enter[0]!, [...lab.enter.slice(1), NFT, 'list', 'tables'], { encoding: 'utf8' });
      expect(tables).not.toContain(TABLE);
    });
  });
});
