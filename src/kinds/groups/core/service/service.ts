import { dnsLabel, nameRule } from '../../../../schema/names.ts';
import { defineKind } from '../../../kind.ts';
import { loadBalancerWarnings } from '../../../warnings/load-balancer.ts';
import { dropUnneeded, keepAllocated, syncClusterIps } from './service-addresses.ts';
import { isHeadless } from './service-cluster-ips.ts';
import { serviceColumns } from './service-columns.ts';
import { type Service as ServiceObject, serviceFields } from './service-fields.ts';
import { serviceRules } from './service-rules.ts';
import { serviceWarnings } from './service-warnings.ts';

export type Service = ServiceObject;

/** A stable name and address for a set of pods. */
export const Service = defineKind({
  kind: 'Service',
  short: ['svc'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'A stable name and IP address for a set of pods; traffic is distributed over them.',
  versions: { v1: {} },
  fields: serviceFields,
  name: nameRule(dnsLabel),
  subresources: { status: true, proxy: true },
  selectable: {
    'spec.clusterIP': (service: Service) => service.spec.clusterIP ?? '',
    'spec.type': (service: Service) => service.spec.type,
  },
  initialStatus: () => ({ loadBalancer: {} }),
  onCreate: (service: Service) => syncClusterIps(service.spec, undefined),
  onUpdate: (service: Service, old: Service) => {
    keepAllocated(service.spec, old.spec);
    syncClusterIps(service.spec, old.spec);
    dropUnneeded(service, old);
  },
  rules: serviceRules,
  createOnUpdate: true,
  onExport: forgetAllocated,
  warnings: serviceWarnings,
  statusWarnings: loadBalancerWarnings,
  columns: serviceColumns,
});

/** Removes addresses from an exported service, except None, so that it can be created in another cluster. */
function forgetAllocated({ spec }: Service, exact: boolean): void {
  if (exact) return;
  if (!isHeadless(spec)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  delete spec.healthCheckNodePort;
  for (const port of spec.ports ?? []) delete port.nodePort;
}
