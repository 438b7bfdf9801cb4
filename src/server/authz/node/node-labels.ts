/** Which labels a node may put on itself: not those by which others steer pods to trusted nodes. */
import type { AdmissionRequest } from '../../admission/plugin.ts';
import { refused } from '../../admission/refusal.ts';

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

export function checkLabels(request: AdmissionRequest, node: string): void {
  const after = request.object?.metadata.labels ?? {};
  const before = request.old?.metadata.labels ?? {};
  const changed = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  const refusedKeys = changed.filter((key) => after[key] !== before[key] && !isAllowed(key)).sort();
  if (refusedKeys.length === 0) return;
  const keys = refusedKeys.join(', ');
  throw refused(
    request,
    request.old
      ? `is not allowed to modify labels: ${keys}`
      : `node "${node}" is not allowed to set the following labels: ${keys}`,
  );
}

/** Every label outside of the cluster's own domains, and of those the ones that describe a machine. */
function isAllowed(key: string): boolean {
  const slash = key.indexOf('/');
  const domain = slash < 0 ? '' : key.slice(0, slash);
  if (isWithin(domain, RESTRICTED)) return false;
  if (!isWithin(domain, 'kubernetes.io') && !isWithin(domain, 'k8s.io')) return true;
  return OWN.has(key) || OWN_DOMAINS.some((own) => isWithin(domain, own));
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}
