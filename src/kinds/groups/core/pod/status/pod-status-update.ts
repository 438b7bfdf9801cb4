/** Rules for status updates of pods. */
import { addAll } from '../../../../../base/collections/add-all.ts';
import { indexBy } from '../../../../../base/collections/index-by.ts';
import { duplicate, type FieldError, forbidden, invalid, under } from '../../../../../schema/field-error.ts';
import { dnsSubdomain, qualifiedName } from '../../../../../schema/names.ts';
import { ipFamily, ipProblems } from '../../../../shapes/meta/addresses/ip-address.ts';
import { podAnnotationChanges, podAnnotations } from '../../../../shapes/pod/pod-annotations.ts';
import type { PodSpec } from '../../../../shapes/pod/pod-spec.ts';
import type { PodStatus } from '../../../../shapes/pod/pod-status.ts';
import type { Pod } from '../pod-fields.ts';
import { containerStatusRules } from './container-status-update.ts';
import { saturateRestarts } from './restart-counts.ts';

/** Keeps fields that the writer left out (the immutable QoS class, observed generations), and limits restart counts. */
export function keepObserved(pod: Pod, old: Pod): void {
  const { status } = pod;
  saturateRestarts(pod, old);
  if (old.metadata.ownerReferences) pod.metadata.ownerReferences = old.metadata.ownerReferences;
  else delete pod.metadata.ownerReferences;
  if (old.status.qosClass) status.qosClass ??= old.status.qosClass;
  if (old.status.observedGeneration) status.observedGeneration ??= old.status.observedGeneration;
  const conditionsBefore = indexBy(old.status.conditions, ({ type }) => type);
  for (const condition of status.conditions ?? []) {
    const before = conditionsBefore.get(condition.type)?.observedGeneration;
    if (before) condition.observedGeneration ??= before;
  }
}

export function podStatusRules({ metadata, spec, status }: Pod, old: Pod): FieldError[] {
  return [
    ...under('metadata.annotations', [
      ...podAnnotationChanges(metadata.annotations, old.metadata.annotations),
      ...podAnnotations(metadata.annotations, spec),
    ]),
    ...under('status', [
      ...conditions(status),
      ...nomination(status, old),
      ...qualityOfService(status, old.status),
      ...containerStatusRules(status, old),
      ...resourceClaims(status, spec),
      ...addresses('podIPs', status.podIPs, old.status.podIPs),
      ...mainHostAddress(status),
      ...addresses('hostIPs', status.hostIPs, old.status.hostIPs),
    ]),
  ];
}

const ownConditions = new Set(['PodScheduled', 'Ready', 'Initialized']);

function conditions({ conditions: list = [], observedGeneration }: PodStatus): FieldError[] {
  const found = generation('observedGeneration', observedGeneration);
  list.forEach(({ type, observedGeneration: seen }, index) => {
    addAll(found, generation(`conditions[${index}].observedGeneration`, seen));
    if (ownConditions.has(type)) return;
    for (const complaint of qualifiedName(type)) found.push(invalid(`conditions[${index}].Type`, type, complaint));
  });
  return found;
}

function generation(field: string, value = 0): FieldError[] {
  return value < 0 ? [invalid(field, value, 'must be a non-negative integer')] : [];
}

/** Checks the name of the node that the scheduler preempts pods on. */
function nomination({ nominatedNodeName: name }: PodStatus, { spec, status }: Pod): FieldError[] {
  if (!name || name === status.nominatedNodeName) return [];
  const found = dnsSubdomain(name).map((complaint) => invalid('nominatedNodeName', name, complaint));
  if (spec.nodeName) {
    found.push(forbidden('nominatedNodeName', 'may not be set on pods that are already bound to a node'));
  }
  return found;
}

function qualityOfService({ qosClass }: PodStatus, { qosClass: old }: PodStatus): FieldError[] {
  return old && qosClass !== old ? [invalid('qosClass', qosClass ?? '', 'field is immutable')] : [];
}

function resourceClaims({ resourceClaimStatuses = [] }: PodStatus, spec: PodSpec): FieldError[] {
  const seen = new Set<string>();
  const known = new Set(spec.resourceClaims?.map(({ name }) => name));
  return resourceClaimStatuses.flatMap(({ name, resourceClaimName: claim }, index) => {
    const at = `resourceClaimStatuses[${index}]`;
    const found: FieldError[] = [];
    if (!known.has(name)) {
      found.push(invalid(`${at}.name`, name, 'must match the name of an entry in `spec.resourceClaims`'));
    }
    if (seen.has(name)) found.push(duplicate(`${at}.name`, name));
    seen.add(name);
    for (const complaint of claim === undefined ? [] : dnsSubdomain(claim)) {
      found.push(invalid(`${at}.resourceClaimName`, claim, complaint));
    }
    return found;
  });
}

type Addresses = readonly { readonly ip: string }[];

/** Checks that there is at most one address per IP family. Unchanged addresses are not checked again. */
function addresses(field: 'podIPs' | 'hostIPs', list: Addresses = [], old: Addresses = []): FieldError[] {
  const known = new Set(old.map(({ ip }) => ip));
  const found = list.flatMap(({ ip }, index) =>
    known.has(ip) ? [] : ipProblems(ip).map((complaint) => invalid(`${field}[${index}]`, ip, complaint)),
  );
  const families = new Set(list.map(({ ip }) => ipFamily(ip)));
  if (list.length > families.size) {
    found.push(invalid(field, list, 'may specify no more than one IP for each IP family'));
  }
  return found;
}

function mainHostAddress({ hostIP, hostIPs }: PodStatus): FieldError[] {
  const first = hostIPs?.[0]?.ip;
  if (first === undefined || first === (hostIP ?? '')) return [];
  return [invalid('hostIPs[0].ip', first, 'must be equal to `hostIP`')];
}
