/** Rules for updates of pods. Few fields can be changed, because a node may already run the pod. */
import { deepEqual } from '../../../../../base/json/tree.ts';
import { type FieldError, forbidden, invalid, under } from '../../../../../schema/field-error.ts';
import type { Container } from '../../../../shapes/container/container.ts';
import { podAnnotationChanges } from '../../../../shapes/pod/pod-annotations.ts';
import type { PodSpec } from '../../../../shapes/pod/pod-spec.ts';
import type { NodeAffinity } from '../../../../shapes/pod/scheduling/affinity.ts';
import type { NodeSelectorTerm } from '../../../../shapes/pod/scheduling/node-selector.ts';
import type { Toleration } from '../../../../shapes/pod/scheduling/toleration.ts';
import type { Pod } from '../pod-fields.ts';
import { treeDiff } from './tree-diff.ts';

const updatable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

export function podUpdateRules(pod: Pod, old: Pod): FieldError[] {
  return [
    ...under('metadata.annotations', podAnnotationChanges(pod.metadata.annotations, old.metadata.annotations)),
    ...under('spec', specChanges(pod.spec, old.spec)),
  ];
}

function specChanges(spec: PodSpec, old: PodSpec): FieldError[] {
  if (deepEqual(spec, old)) return [];
  for (const list of ['containers', 'initContainers'] as const) {
    if ((spec[list]?.length ?? 0) !== (old[list]?.length ?? 0)) {
      return [forbidden(list, 'pod updates may not add or remove containers')];
    }
  }
  const found = [
    ...deadline(spec.activeDeadlineSeconds, old.activeDeadlineSeconds),
    ...tolerations(spec.tolerations ?? [], old.tolerations ?? []),
    ...schedulingGates(spec, old),
  ];
  const rest = { ...spec, ...mutableFields(spec, old) };
  if (old.schedulingGates) for (const each of whileGated(spec, old, rest)) found.push(each);
  if (!deepEqual(rest, old)) {
    const detail = `pod updates may not change fields other than ${updatable}\n${treeDiff(old, rest)}`;
    found.push(forbidden('', detail));
  }
  return found;
}

/** The fields that may change, with their old values. */
function mutableFields(spec: PodSpec, old: PodSpec): Partial<PodSpec> {
  const { activeDeadlineSeconds, tolerations, schedulingGates } = old;
  return {
    containers: oldImages(spec.containers, old.containers),
    ...(spec.initContainers ? { initContainers: oldImages(spec.initContainers, old.initContainers) } : {}),
    activeDeadlineSeconds,
    tolerations,
    schedulingGates,
  };
}

function oldImages(containers: Container[] = [], old: readonly Container[] = []): Container[] {
  return containers.map((container, index) => ({ ...container, image: old[index]!.image }));
}

function deadline(seconds: number | undefined, old: number | undefined): FieldError[] {
  if (old === undefined) return [];
  if (seconds === undefined) {
    return [invalid('activeDeadlineSeconds', null, 'must not update from a positive integer to nil value')];
  }
  return seconds > old
    ? [invalid('activeDeadlineSeconds', seconds, 'must be less than or equal to previous value')]
    : [];
}

/** Existing tolerations cannot be removed, but their tolerationSeconds can change. */
function tolerations(list: readonly Toleration[], old: readonly Toleration[]): FieldError[] {
  const identity = ({ key, operator, value, effect }: Toleration) => JSON.stringify([key, operator, value, effect]);
  const now = new Set(list.map(identity));
  const kept = old.every((before) => now.has(identity(before)));
  return kept ? [] : [forbidden('tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function schedulingGates({ schedulingGates: gates = [] }: PodSpec, { schedulingGates: old = [] }: PodSpec) {
  const known = new Set(old.map(({ name }) => name));
  return gates.flatMap(({ name }, index) => {
    if (known.has(name)) return [];
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [forbidden(`schedulingGates[${index}].name`, detail)];
  });
}

/**
 * Checks changes of a pod before it is scheduled: it can be restricted to fewer nodes. Allowed changes are reverted in
 * `rest`.
 */
function whileGated(spec: PodSpec, old: PodSpec, rest: PodSpec): FieldError[] {
  const found: FieldError[] = [];
  const before = old.nodeSelector ?? {};
  const now = spec.nodeSelector ?? {};
  if (Object.keys(before).some((key) => before[key] !== now[key])) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    found.push(invalid('nodeSelector', spec.nodeSelector ?? null, detail));
  }
  rest.nodeSelector = old.nodeSelector;
  if (deepEqual(spec.affinity?.nodeAffinity, old.affinity?.nodeAffinity)) return found;
  const path = 'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  const widened = narrowed(terms(spec.affinity?.nodeAffinity), terms(old.affinity?.nodeAffinity));
  for (const each of under(path, widened)) found.push(each);
  const { nodeAffinity: _, ...others } = spec.affinity ?? {};
  const nodeAffinity = old.affinity?.nodeAffinity;
  const same = { ...others, ...(nodeAffinity ? { nodeAffinity } : {}) };
  rest.affinity = old.affinity || Object.keys(same).length ? same : undefined;
  return found;
}

const terms = (affinity: NodeAffinity | undefined) =>
  affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];

function narrowed(now: readonly NodeSelectorTerm[], old: readonly NodeSelectorTerm[]): FieldError[] {
  if (old.length === 0) return [];
  if (now.length !== old.length) {
    return [invalid('', now, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  }
  return now.flatMap((term, index) =>
    onlyAdds(term, old[index]!)
      ? []
      : [invalid(`[${index}]`, term, 'only additions are allowed (no mutations or deletions)')],
  );
}

function onlyAdds(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const { matchExpressions: labels = [], matchFields: fields = [] } = old;
  if (labels.length === 0 && fields.length === 0) return !term.matchExpressions && !term.matchFields;
  return (
    deepEqual((term.matchExpressions ?? []).slice(0, labels.length), labels) &&
    deepEqual((term.matchFields ?? []).slice(0, fields.length), fields)
  );
}
