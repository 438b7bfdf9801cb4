import { expect, it } from 'vitest';
import { portsOfIptables, portsOfMap, portsOfRules } from './published-ports.ts';

it('reads the ports of pods from rules that change destinations', () => {
  const match = (protocol: string, field: string, right: unknown) => ({
    match: { op: '==', left: { payload: { protocol, field } }, right },
  });
  const dnat = { dnat: { addr: '10.1.0.2', port: 80 } };
  const rule = (...expr: object[]) => ({ rule: { table: 'quarterdeck_qd1_pods', expr } });
  const nftables = [
    { metainfo: {} },
    rule(match('tcp', 'dport', 8080), dnat),
    rule(match('ip', 'daddr', '127.0.0.1'), match('udp', 'dport', 53), dnat),
    rule(match('sctp', 'dport', 9), dnat),
    rule(match('tcp', 'dport', 81), { accept: null }),
  ];
  expect(portsOfRules({ nftables } as never)).toEqual([
    { protocol: 'tcp', address: '0.0.0.0', port: 8080, owner: 'quarterdeck_qd1_pods' },
    { protocol: 'udp', address: '127.0.0.1', port: 53, owner: 'quarterdeck_qd1_pods' },
  ]);
});

it('reads the ports of services from the keys of maps', () => {
  const elem = [
    [{ concat: ['tcp', 30080] }, { goto: { target: 'a' } }],
    [{ concat: ['192.0.2.1', 'udp', 53] }, { goto: { target: 'b' } }],
  ];
  const nftables = [{ map: { table: 'qd-n-1', elem } }, { map: { table: 'qd-n-2' } }];
  expect(portsOfMap({ nftables } as never)).toEqual([
    { protocol: 'tcp', address: '0.0.0.0', port: 30080, owner: 'qd-n-1' },
    { protocol: 'udp', address: '192.0.2.1', port: 53, owner: 'qd-n-1' },
  ]);
});

it('reads the ports of containers from iptables, with their networks', () => {
  const text = [
    '*nat',
    ':CNI-DN-ab12 - [0:0]',
    '-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"qd77\\" id: \\"c1\\"" -m multiport --dports 8080 -j CNI-DN-ab12',
    '-A CNI-DN-ab12 -s 10.1.0.0/24 -p tcp -m tcp --dport 8080 -j CNI-HOSTPORT-SETMARK',
    '-A CNI-DN-ab12 -p tcp -m tcp --dport 8080 -j DNAT --to-destination 10.1.0.2:80',
    '-A CNI-DN-ab12 -d 127.0.0.1/32 -p udp -m udp --dport 53 -j DNAT --to-destination 10.1.0.2:53',
    '-A DOCKER ! -i docker0 -p tcp -m tcp --dport 5000 -j DNAT --to-destination 172.17.0.2:5000',
    'COMMIT',
  ].join('\n');
  expect(portsOfIptables(text)).toEqual([
    { protocol: 'tcp', address: '0.0.0.0', port: 8080, owner: 'qd77' },
    { protocol: 'udp', address: '127.0.0.1', port: 53, owner: 'qd77' },
    { protocol: 'tcp', address: '0.0.0.0', port: 5000, owner: 'DOCKER' },
  ]);
});
