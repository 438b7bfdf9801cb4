/**
 * Serves the API also at an address of the machine. Without rules, pods do not reach the address of its Service, and a variable of
 * a container that runs cannot follow the servers: this address leads to those that live.
 */
import type { PortRules, RuleApplier, RuleChange } from '../rules/rule-set.ts';

const API_SERVICE = 'default/kubernetes';

export function withLocalApi(
  applier: RuleApplier,
  { host, port }: { readonly host: string; readonly port: number },
): RuleApplier {
  const atMachine = (rules: PortRules): PortRules => ({
    ...rules,
    id: `${rules.id}@${host}`,
    clusterIP: host,
    port,
    external: undefined,
  });
  return {
    apply: (change) => applier.apply(extended(change, atMachine)),
    close: () => applier.close(),
  };
}

function extended(change: RuleChange, atMachine: (rules: PortRules) => PortRules): RuleChange {
  const api = change.services.get(API_SERVICE);
  const [first] = api?.ports ?? [];
  if (!api || !first) return change;
  const services = new Map(change.services).set(API_SERVICE, { ...api, ports: [...api.ports, atMachine(first)] });
  return { ...change, services };
}
