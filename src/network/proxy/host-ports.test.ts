import { expect, it } from 'vitest';
import { NO_RULES, type PortRules, type ServiceRules } from '../rules/rule-set.ts';
import { HostPorts } from './host-ports.ts';

const NODE = '192.0.2.1';

/** A node port for each number, with the same endpoints. */
function rulesOf(nodePorts: readonly number[], inside: readonly object[] = []): ServiceRules {
  const ports = nodePorts.map((nodePort) => ({
    ...{ id: `default/web:${nodePort}`, protocol: 'tcp', port: nodePort },
    external: { addresses: [], loadBalancerAddresses: [], nodePort, inside },
  }));
  return { ...NO_RULES, ports: ports as unknown as PortRules[] };
}

async function rejectedOf(rules: ServiceRules, listeners: readonly number[]) {
  const sockets = listeners.map((port) => ({ protocol: 'tcp', address: '0.0.0.0', port }) as const);
  const hostPorts = new HostPorts({ listeners: async () => sockets, addresses: [NODE] });
  const decided = await hostPorts.decide(new Map([['default/web', { service: undefined, rules }]]));
  return decided.get('default/web')!.rejected.map(({ port }) => port);
}

it('rejects ports that something else listens on, and not those of its own endpoints', async () => {
  expect(await rejectedOf(rulesOf([30_001, 30_002, 30_003]), [30_002, 30_003])).toEqual([30_002, 30_003]);
  const own = { isLocal: true, address: NODE, port: 30_003 };
  const others = [
    { ...own, port: 30_002, isLocal: false },
    { ...own, port: 30_002, address: '10.0.0.1' },
  ];
  expect(await rejectedOf(rulesOf([30_001, 30_002, 30_003], [own, ...others]), [30_002, 30_003])).toEqual([30_002]);
});

it('endpoints are looked at once, however many ports there are', async () => {
  let looks = 0;
  const endpoint = {
    get isLocal() {
      looks++;
      return false;
    },
  };
  const numbers = Array.from({ length: 500 }, (_, index) => 30_000 + index);
  const rules = rulesOf(numbers, Array(10).fill(endpoint));
  expect(await rejectedOf(rules, numbers)).toEqual(numbers);
  expect(looks).toBe(500 * 10);
  looks = 0;
  expect(await rejectedOf(rules, [80])).toEqual([]);
  expect(looks).toBe(0);
});
