import { addAll } from '../../../../base/collections/add-all.ts';
import { cidrWarnings, ipWarnings } from '../../../warnings/addresses.ts';
import type { Service } from './service-fields.ts';

const HINTS = 'service.kubernetes.io/topology-aware-hints';
const MODE = 'service.kubernetes.io/topology-mode';

export function serviceWarnings({ metadata, spec }: Service): string[] {
  const { type, clusterIP = '', clusterIPs = [], externalIPs = [], externalName, loadBalancerIP } = spec;
  const found: string[] = [];
  if (metadata.annotations?.[HINTS] !== undefined) {
    found.push(`annotation ${HINTS} is deprecated, please use ${MODE} instead`);
  }
  if (clusterIP && clusterIP !== 'None') {
    addAll(
      found,
      clusterIPs.flatMap((ip, index) => ipWarnings(`spec.clusterIPs[${index}]`, ip)),
    );
  }
  const headless = type === 'ClusterIP' && clusterIP === 'None';
  if (headless) {
    if (loadBalancerIP) found.push('spec.loadBalancerIP is ignored for headless services');
    if (externalIPs.length > 0) found.push('spec.externalIPs is ignored for headless services');
    if (spec.sessionAffinity !== 'None') found.push('spec.SessionAffinity is ignored for headless services');
  }
  if (externalIPs.length > 0) {
    addAll(
      found,
      externalIPs.flatMap((ip, index) => ipWarnings(`spec.externalIPs[${index}]`, ip)),
    );
    if (!headless && type !== 'ExternalName') {
      found.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
    }
  }
  if (loadBalancerIP) addAll(found, ipWarnings('spec.loadBalancerIP', loadBalancerIP));
  spec.loadBalancerSourceRanges?.forEach((range, index) => {
    addAll(found, cidrWarnings(`spec.loadBalancerSourceRanges[${index}]`, range.trim()));
  });
  if (type === 'ExternalName' && externalIPs.length > 0) {
    found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (type !== 'ExternalName' && externalName) {
    found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (spec.trafficDistribution === 'PreferClose') {
    found.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return found;
}
