import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import { dnsLabel, nameRule, qualifiedName } from '../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type HookContext, type KubeObject } from '../../kind.ts';
import { conditionFields } from '../../shapes/workload/workload-status.ts';

/** Label with the name of the namespace, so that selectors can select it. */
const NAME_LABEL = 'kubernetes.io/metadata.name';
/** Finalizer that is removed when the namespace has no content left. */
const CONTENT = 'kubernetes';
const plainFinalizers = [CONTENT, 'orphan', 'foregroundDeletion'];

const fields = {
  spec: s.struct('NamespaceSpec', 'Desired state of a namespace.', {
    finalizers: s.list(
      s.string(),
      'Finalizers that must be removed before the namespace is deleted, such as kubernetes, which removes its ' +
        'content. Changed only through the finalize subresource.',
    ),
  }),
  status: s.struct('NamespaceStatus', 'Observed state of a namespace. Read-only.', {
    phase: s.string('Active, or Terminating while the namespace is being deleted.', { default: 'Active' }),
    conditions: s.listMap(
      s.object('NamespaceCondition', 'One aspect of the observed state of a namespace.', conditionFields),
      'Why a namespace that is being deleted still exists, such as remaining content or finalizers.',
      { keys: ['type'] },
    ),
  }),
};

export type Namespace = KubeObject & ObjectType<typeof fields>;

/** A scope for names. */
export const Namespace = defineKind({
  kind: 'Namespace',
  short: ['ns'],
  scope: 'Cluster',
  description: 'Scope for names. Most objects belong to a namespace and are deleted together with it.',
  versions: { v1: {} },
  fields,
  name: nameRule(dnsLabel),
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  subresources: { status: true, finalize: true },
  selectable: { 'status.phase': (namespace: Namespace) => namespace.status.phase },
  initialStatus: () => ({ phase: 'Active' }),
  onCreate: (namespace: Namespace) => {
    const { finalizers = [] } = namespace.spec;
    if (!finalizers.includes(CONTENT)) namespace.spec.finalizers = [...finalizers, CONTENT];
    labelWithName(namespace);
  },
  onUpdate: (namespace: Namespace, old: Namespace, { subresource }: HookContext) => {
    if (subresource !== 'finalize') namespace.spec = old.spec;
    labelWithName(namespace);
  },
  onExport: ({ metadata }: Namespace) => {
    delete metadata.labels?.[NAME_LABEL];
  },
  termination: {
    begin: (namespace) => {
      namespace.status = { ...namespace.status, phase: 'Terminating' };
    },
    isPending: ({ spec }) => Boolean(spec.finalizers?.length),
  },
  rules: [finalizerNames, phaseFollowsDeletion],
  columns: ({ text }) => [name, text('Status', 'Active or Terminating.', ({ status }) => status?.phase ?? ''), age],
});

/** Reports whether a path segment behind a namespace's name is its subresource, not a resource inside it. */
export function isNamespaceSubresource(segment: string): boolean {
  return Object.hasOwn(Namespace.hub.subresources, segment);
}

function labelWithName({ metadata }: Namespace): void {
  if (metadata.name) metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
}

function finalizerNames({ spec }: Namespace, { subresource }: RuleContext): FieldError[] {
  return (spec.finalizers ?? []).flatMap((name, index) => {
    const complaints = qualifiedName(name);
    if (!name.includes('/') && !plainFinalizers.includes(name)) {
      complaints.push('name is neither a standard finalizer name nor is it fully qualified');
    }
    const field = subresource === 'finalize' ? `spec.finalizers[${index}]` : 'spec.finalizers';
    return complaints.map((each) => invalid(field, name, each));
  });
}

function phaseFollowsDeletion({ metadata, status }: Namespace, { subresource }: RuleContext): FieldError[] {
  if (subresource !== 'status') return [];
  const [phase, state] = metadata.deletionTimestamp ? ['Terminating', 'not empty'] : ['Active', 'empty'];
  if (status.phase === phase) return [];
  return [invalid('status.Phase', status.phase, `may only be '${phase}' if \`deletionTimestamp\` is ${state}`)];
}
