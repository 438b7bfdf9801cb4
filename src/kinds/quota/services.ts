import { parseQuantity } from '../../base/quantity.ts';
import type { Service } from '../groups/core/service/service.ts';
import { NOTHING, ONE } from './amounts.ts';
import type { QuotaEvaluator } from './evaluator.ts';

const known = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers']);

export const serviceUsage: QuotaEvaluator<Service> = {
  counts: (resource) => known.has(resource),

  usage({ spec }) {
    return new Map([
      ['count/services', ONE],
      ['services', ONE],
      ['services.nodeports', parseQuantity(String(nodePorts(spec)))],
      ['services.loadbalancers', spec.type === 'LoadBalancer' ? ONE : NOTHING],
    ]);
  },

  isIn: () => false,
};

function nodePorts({ type, ports = [], allocateLoadBalancerNodePorts }: Service['spec']): number {
  if (type !== 'NodePort' && type !== 'LoadBalancer') return 0;
  const isAsked = type === 'NodePort' || allocateLoadBalancerNodePorts !== false;
  return isAsked ? ports.length : ports.filter(({ nodePort }) => nodePort).length;
}
