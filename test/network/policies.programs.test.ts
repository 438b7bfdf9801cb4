/** Network policies, with real packets between pods on one bridge. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silent } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { LocalKernel } from '../../src/network/kernel/local-kernel.ts';
import { NftablesProxy } from '../../src/network/nftables/nftables-proxy.ts';
import { type PolicyWorld, policySetOf } from '../../src/network/policy/policy-set-of.ts';
import { NO_RULES } from '../../src/network/rules/rule-set.ts';
import { atOnce, NEVER_SPENT } from '../support/divided-work.ts';
import { type Lab, openLab } from './lab/lab.ts';
import type { Peer } from './lab/peer.ts';

const NFT = '/usr/sbin/nft';
const PERL = '/usr/bin/perl';
const canRun = process.getuid?.() === 0 && existsSync(NFT) && existsSync('/usr/sbin/ip') && existsSync(PERL);
if (!canRun && process.env.CI === 'true') throw new Error('the tests of policies need root, nft, ip and perl');

const DENIED_MS = 300;

describe.skipIf(!canRun)('network policies (need root, nft, ip and perl)', () => {
  let lab: Lab;
  let proxy: NftablesProxy;
  beforeAll(async () => {
    lab = await openLab(3);
    const kernel = new LocalKernel({ nft: NFT, perl: PERL, enter: lab.enter });
    proxy = new NftablesProxy({
      ...{ kernel, table: 'qd-test', podRanges: lab.podRanges, clock: systemClock, log: silent },
    });
    for (const { peer } of lab.pods) {
      await peer.listen(8080);
      await peer.listen(8081);
    }
    await lab.outside.listen(8080);
    const endpoints = [{ address: lab.pods[0]!.address, port: 8080, isLocal: true }];
    const port = {
      ...({
        id: 'a',
        family: 4,
        protocol: 'tcp',
        clusterIP: '10.96.0.10',
        port: 80,
        affinitySeconds: undefined,
      } as const),
      ...{ internal: { endpoints, otherwise: 'reject' } as const, external: undefined, serving: endpoints },
    };
    await proxy.apply({ services: new Map([['ns/web', { ...NO_RULES, ports: [port] }]]), serviceRanges: [] });
  });
  afterAll(async () => {
    await proxy?.close();
    await lab?.stop();
  });

  /** The pods: web and db in `shop`, probe in `other`. */
  const world = (...policies: object[]): PolicyWorld => {
    const pod = (index: number, namespace: string, app: string) => ({
      metadata: { name: app, namespace, labels: { app } },
      spec: {
        nodeName: 'here',
        containers: [{ ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }],
      },
      status: {
        phase: 'Running',
        podIP: lab.pods[index]!.address,
        podIPs: [{ ip: lab.pods[index]!.address }, { ip: lab.pods[index]!.address6 }],
      },
    });
    return {
      policies: policies.map((spec, index) => ({ metadata: { name: `p${index}`, namespace: 'shop' }, spec })),
      pods: [pod(0, 'shop', 'web'), pod(1, 'shop', 'db'), pod(2, 'other', 'probe')],
      namespaces: ['shop', 'other'].map((name) => ({ metadata: { name, labels: { name } } })),
      node: 'here',
    } as unknown as PolicyWorld;
  };
  const enforce = (...policies: object[]) => proxy.isolate(atOnce(policySetOf(world(...policies), NEVER_SPENT)));
  const reaches = (from: Peer, address: string, port = 8080, protocol: 'tcp' | 'udp' = 'tcp') =>
    from.request({ protocol, address, port, timeout: DENIED_MS }).then(
      () => true,
      () => false,
    );
  const [WEB, DB, PROBE] = [0, 1, 2];
  const peer = (index: number) => lab.pods[index]!.peer;
  const at = (index: number) => lab.pods[index]!.address;
  const onDb = { podSelector: { matchLabels: { app: 'db' } }, policyTypes: ['Ingress'] };
  const onWeb = { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Egress'] };

  it('isolate nothing while there are none', async () => {
    await enforce();
    expect(await reaches(peer(PROBE), at(DB))).toBe(true);
    expect(await reaches(peer(WEB), at(DB))).toBe(true);
  });

  it('isolate the pods that they select, and no others; the node always reaches its pods', async () => {
    await enforce(onDb);
    expect(await reaches(peer(WEB), at(DB))).toBe(false);
    expect(await reaches(peer(WEB), at(DB), 8080, 'udp')).toBe(false);
    expect(await reaches(peer(WEB), lab.pods[DB]!.address6)).toBe(false);
    expect(await reaches(peer(DB), at(WEB))).toBe(true);
    expect(await reaches(peer(PROBE), at(WEB))).toBe(true);
    expect(await reaches(lab.node, at(DB))).toBe(true);
  });

  it('allow pods by their labels, in their own namespace or in others', async () => {
    await enforce({ ...onDb, ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }] }] });
    expect(await reaches(peer(WEB), at(DB))).toBe(true);
    expect(await reaches(peer(WEB), lab.pods[DB]!.address6)).toBe(true);
    expect(await reaches(peer(PROBE), at(DB))).toBe(false);
    const other = { namespaceSelector: { matchLabels: { name: 'other' } } };
    await enforce({ ...onDb, ingress: [{ from: [other] }] });
    expect(await reaches(peer(PROBE), at(DB))).toBe(true);
    expect(await reaches(peer(WEB), at(DB))).toBe(false);
    await enforce({ ...onDb, ingress: [{ from: [{ ...other, podSelector: { matchLabels: { app: 'web' } } }] }] });
    expect(await reaches(peer(PROBE), at(DB))).toBe(false);
  });

  it('allow ports, ranges of ports, and ports by name', async () => {
    const ports = async (...list: object[]) => {
      await enforce({ ...onDb, ingress: [{ ports: list }] });
      return [await reaches(peer(WEB), at(DB), 8080), await reaches(peer(WEB), at(DB), 8081)];
    };
    expect(await ports({ port: 8080, protocol: 'TCP' })).toEqual([true, false]);
    expect(await ports({ port: 8081, endPort: 9000, protocol: 'TCP' })).toEqual([false, true]);
    const overlapping = [{ port: 8081, endPort: 9000 }, { port: 8090, endPort: 9100 }, { port: 53 }, { port: 8085 }];
    expect(await ports(...overlapping.map((range) => ({ ...range, protocol: 'TCP' })))).toEqual([false, true]);
    expect(await ports({ port: 'http', protocol: 'TCP' })).toEqual([true, false]);
    expect(await ports({ protocol: 'TCP' })).toEqual([true, true]);
    expect(await ports({ protocol: 'UDP' })).toEqual([false, false]);
    expect(await reaches(peer(WEB), at(DB), 8080, 'udp')).toBe(true);
  });

  it('allow ranges of addresses with exceptions', async () => {
    const from = (except: string[]) =>
      enforce({ ...onDb, ingress: [{ from: [{ ipBlock: { cidr: '10.244.7.0/24', except } }] }] });
    await from([`${at(WEB)}/32`]);
    expect(await reaches(peer(WEB), at(DB))).toBe(false);
    expect(await reaches(peer(PROBE), at(DB))).toBe(true);
    await from([]);
    expect(await reaches(peer(WEB), at(DB))).toBe(true);
  });

  it('limit what pods reach, inside and outside of the cluster, and through services', async () => {
    await enforce(onWeb);
    expect(await reaches(peer(WEB), at(DB))).toBe(false);
    expect(await reaches(peer(WEB), '192.168.77.2')).toBe(false);
    expect(await reaches(peer(DB), at(WEB))).toBe(true);
    await enforce({ ...onWeb, egress: [{ to: [{ ipBlock: { cidr: '192.168.77.0/24' } }] }] });
    expect(await reaches(peer(WEB), '192.168.77.2')).toBe(true);
    expect(await reaches(peer(WEB), at(DB))).toBe(false);
    const onDbEgress = { ...onWeb, podSelector: { matchLabels: { app: 'db' } } };
    await enforce(onDbEgress);
    expect(await reaches(peer(DB), '10.96.0.10', 80)).toBe(false);
    await enforce({
      ...onDbEgress,
      egress: [{ to: [{ podSelector: { matchLabels: { app: 'web' } } }], ports: [{ port: 'http' }] }],
    });
    expect(await reaches(peer(DB), '10.96.0.10', 80)).toBe(true);
    expect(await reaches(peer(DB), at(WEB), 8081)).toBe(false);
  });

  it('add up', async () => {
    const from = (app: string, more: object = {}) => ({
      ...onDb,
      ingress: [{ from: [{ podSelector: { matchLabels: { app } }, ...more }] }],
    });
    await enforce(onDb, from('web'), from('probe', { namespaceSelector: {} }));
    expect(await reaches(peer(WEB), at(DB))).toBe(true);
    expect(await reaches(peer(PROBE), at(DB))).toBe(true);
  });

  it('let a pod reach itself, and keep connections that are open', async () => {
    await enforce();
    await peer(PROBE).open('kept', { protocol: 'tcp', address: at(DB), port: 8080 });
    await enforce({ ...onDb, podSelector: {} }, { podSelector: {}, policyTypes: ['Egress'] });
    expect(await peer(PROBE).say('kept', 'still')).toBe('still');
    expect(await reaches(peer(PROBE), at(DB))).toBe(false);
    expect(await reaches(peer(WEB), '10.96.0.10', 80)).toBe(true);
    await enforce();
    expect(await reaches(peer(PROBE), at(DB))).toBe(true);
  });
});
