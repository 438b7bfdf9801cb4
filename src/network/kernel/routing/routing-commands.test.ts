import { expect, it } from 'vitest';
import type { Routing, Tunnel } from './router.ts';
import { routingCommands } from './routing-commands.ts';

const OWNER = 'qd0000000f';
const NONE = { routes: [], device: undefined };
const MARK = 'proto 150 metric 15';
const tunnel: Tunnel = {
  ...{ vni: 7, port: 4789, local: '192.168.1.1', address: '10.0.0.0', mac: '0a:58:c0:a8:01:01', mtu: 1450 },
  peers: [{ remote: '172.16.0.3', gateway: '10.0.2.0', mac: '0a:58:ac:10:00:03', ranges: ['10.0.2.0/24'] }],
};
const device = { vni: 7, port: 4789, local: '192.168.1.1', mac: tunnel.mac, gateways: [], macs: [] };

it('routes that are gone are deleted, and all others replaced', () => {
  const wanted: Routing = { routes: [{ range: '10.0.1.0/24', via: '192.168.1.2' }], tunnel: undefined };
  const routes = ['10.0.1.0/24', '10.0.9.0/24'].map((range) => ({ range, device: 'eth0' }));
  expect(routingCommands(OWNER, { ...NONE, routes }, wanted)).toEqual({
    device: [],
    bridge: [],
    routes: [`route delete 10.0.9.0/24 ${MARK}`, `route replace 10.0.1.0/24 via 192.168.1.2 ${MARK}`],
  });
});

it('a tunnel is made with entries for its peers', () => {
  expect(routingCommands(OWNER, NONE, { routes: [], tunnel })).toEqual({
    device: [
      'link add qdx0000000f address 0a:58:c0:a8:01:01 type vxlan id 7 local 192.168.1.1 dstport 4789 nolearning',
      'link set qdx0000000f mtu 1450 up',
      'addr replace 10.0.0.0/32 dev qdx0000000f',
    ],
    bridge: ['fdb replace 0a:58:ac:10:00:03 dev qdx0000000f dst 172.16.0.3 self permanent'],
    routes: [
      'neigh replace 10.0.2.0 lladdr 0a:58:ac:10:00:03 dev qdx0000000f nud permanent',
      `route replace 10.0.2.0/24 via 10.0.2.0 dev qdx0000000f onlink ${MARK}`,
    ],
  });
});

it('a tunnel that exists is kept, without the entries of peers that are gone', () => {
  const current = { routes: [], device: { ...device, gateways: ['10.0.8.0'], macs: ['0a:58:01:01:01:01'] } };
  const { device: made, bridge, routes } = routingCommands(OWNER, current, { routes: [], tunnel });
  expect(made[0]).toBe('link set qdx0000000f mtu 1450 up');
  expect(bridge[0]).toBe('fdb delete 0a:58:01:01:01:01 dev qdx0000000f self');
  expect(routes[0]).toBe('neigh delete 10.0.8.0 dev qdx0000000f');
});

it('a tunnel with another address is made anew, and one that is not needed deleted', () => {
  const other = { routes: [], device: { ...device, local: '192.168.1.9' } };
  expect(routingCommands(OWNER, other, { routes: [], tunnel }).device.slice(0, 2)).toEqual([
    'link delete dev qdx0000000f',
    expect.stringContaining('link add'),
  ]);
  expect(routingCommands(OWNER, other, { routes: [], tunnel: undefined }).device).toEqual([
    'link delete dev qdx0000000f',
  ]);
});

it('routes of a tunnel that is deleted are not deleted again', () => {
  const routes = ['qdx0000000f', 'eth0'].map((name, index) => ({ range: `10.0.${index}.0/24`, device: name }));
  const { routes: commands } = routingCommands(OWNER, { routes, device }, { routes: [], tunnel: undefined });
  expect(commands).toEqual([`route delete 10.0.1.0/24 ${MARK}`]);
});

it.each(['10.0.1.0/24 dev lo', '', 'default', '1.2.3.4\nlink delete eth0'])('rejects the range %j', (range) => {
  expect(() => routingCommands(OWNER, NONE, { routes: [{ range, via: '192.168.1.2' }], tunnel: undefined })).toThrow();
});

it('rejects an owner that is no node', () => {
  expect(() => routingCommands('eth0', NONE, { routes: [], tunnel: undefined })).toThrow('not the id of a node');
});
