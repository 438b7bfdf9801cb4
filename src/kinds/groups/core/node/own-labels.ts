/** The labels that a node may put on itself. Others steer pods to trusted nodes, and only administrators set them. */

const OWN: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
]);
const OWN_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const RESTRICTED = 'node-restriction.kubernetes.io';

/** Accepts every label outside of the cluster's own domains, and of those the ones that describe a machine. */
export function isNodeOwnLabel(key: string): boolean {
  const slash = key.indexOf('/');
  const domain = slash < 0 ? '' : key.slice(0, slash);
  if (isWithin(domain, RESTRICTED)) return false;
  if (!isWithin(domain, 'kubernetes.io') && !isWithin(domain, 'k8s.io')) return true;
  return OWN.has(key) || OWN_DOMAINS.some((own) => isWithin(domain, own));
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
