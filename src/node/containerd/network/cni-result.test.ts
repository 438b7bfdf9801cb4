import { expect, it } from 'vitest';
import { interfaceIn } from './cni-result.ts';

const Interfaces = {
  eth0: { IPConfigs: [{ IP: '10.244.0.2', Gateway: '10.244.0.1' }], Mac: 'AE:F5:D4:21:DD:A6', Sandbox: '/run/netns/a' },
  lo: { IPConfigs: [{ IP: '127.0.0.1' }, { IP: '::1' }], Mac: '00:00:00:00:00:00', Sandbox: '/run/netns/a' },
  qd0123456789: { IPConfigs: null, Mac: '0a:58:0a:f4:00:01', Sandbox: '' },
  veth0a1b2c3d: { IPConfigs: null, Mac: '0e:00:00:00:00:01', Sandbox: '' },
};
const info = (interfaces: object) => JSON.stringify({ pid: 12, cniResult: { Interfaces: interfaces } });

it('both ends of the interface that a pod has on a bridge are found', () => {
  expect(interfaceIn(info(Interfaces), 'qd0123456789')).toEqual({
    ...{ device: 'veth0a1b2c3d', address: '10.244.0.2', mac: 'ae:f5:d4:21:dd:a6' },
  });
});

it('no interface is found on the bridge of another network, and without a network', () => {
  expect(interfaceIn(info(Interfaces), 'qdffffffffff')).toBeUndefined();
  expect(interfaceIn('', 'qd0123456789')).toBeUndefined();
});

it('rejects an interface on the bridge that is not described', () => {
  const { eth0: _, ...rest } = Interfaces;
  expect(() => interfaceIn(info(rest), 'qd0123456789')).toThrow('which interface the pod has');
});
