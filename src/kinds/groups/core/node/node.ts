import { addAll } from '../../../../base/collections/add-all.ts';
import { s } from '../../../../schema/builders.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../../schema/field-error.ts';
import { labelValue, qualifiedName } from '../../../../schema/names.ts';
import { matches } from '../../../../schema/rules.ts';
import type { ObjectType, RuleContext, TypeOf } from '../../../../schema/schema.ts';
import { defineKind, type KubeObject } from '../../../kind.ts';
import { cidrProblems, ipFamily } from '../../../shapes/meta/addresses/ip-address.ts';
import { cidrWarnings } from '../../../warnings/addresses.ts';
import { nodeColumns } from './node-columns.ts';
import { NodeConfigSource, NodeStatus } from './node-status.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const Taint = s.object('Taint', 'Keeps pods that do not tolerate it away from a node.', {
  key: s.string('Key of the taint. The pair of key and effect is unique within the node.', {
    zero: true,
    rules: [matches(qualifiedName)],
  }),
  value: s.string('Value of the taint, which tolerations can compare with.', {
    omitZero: true,
    rules: [matches(labelValue)],
  }),
  effect: s.string(
    'Effect on pods that do not tolerate the taint: NoSchedule keeps new pods away, PreferNoSchedule tries ' +
      'to, NoExecute also evicts running pods.',
    {
      zero: true,
      rules: [(effect: string) => (effects.includes(effect) ? undefined : notSupported('', effect, effects))],
    },
  ),
  timeAdded: s.time('Time at which a NoExecute taint was added.'),
});

interface Ranges {
  podCIDR?: string;
  podCIDRs?: string[];
}

const NodeSpec = s.object('NodeSpec', 'Desired state of a node.', {
  podCIDRs: s.set(
    s.string(),
    'IP ranges for the pods of the node, at most one per IP family. The first equals podCIDR. Cannot be ' +
      'changed once set.',
    {
      merge: true,
      derive: ({ podCIDR, podCIDRs }: Ranges) => (podCIDR && podCIDR !== podCIDRs?.[0] ? [podCIDR] : podCIDRs),
      rules: [podRanges],
    },
  ),
  podCIDR: s.string('IP range for the pods of the node. Cannot be changed once set.', {
    derive: ({ podCIDRs }: Ranges) => podCIDRs?.[0],
  }),
  providerID: s.string(
    'ID of the machine at its cloud provider, in the form <provider>://<id>. Cannot be changed once set.',
    { omitZero: true },
  ),
  unschedulable: s.boolean('If true, no new pods are scheduled to the node; running pods stay. Defaults to false.', {
    omitZero: true,
  }),
  taints: s.list(Taint, 'Taints of the node. Pods that do not tolerate them are kept away.', { rules: [uniqueTaints] }),
  configSource: s.use(NodeConfigSource, "Obsolete source of the kubelet's configuration. Ignored on new objects."),
  externalID: s.string('Deprecated and unused ID of the machine outside the cluster. Cannot be changed.', {
    omitZero: true,
  }),
});

const fields = {
  spec: s.use(NodeSpec, { default: {} }),
  status: s.use(NodeStatus, { default: {} }),
};

export type Node = KubeObject & ObjectType<typeof fields>;

/** A machine that runs pods. */
export const Node = defineKind({
  kind: 'Node',
  short: ['no'],
  scope: 'Cluster',
  description: 'A machine that runs pods. Its kubelet registers it and updates its status.',
  versions: { v1: {} },
  fields,
  subresources: { status: true, proxy: true },
  selectable: { 'spec.unschedulable': (node: Node) => String(node.spec.unschedulable ?? false) },
  initialStatus: (node: Node) => node.status,
  onCreate: ({ spec, status }: Node) => {
    delete spec.configSource;
    delete status.config;
  },
  onUpdate: ({ spec }: Node, old: Node) => {
    if (!old.spec.configSource) delete spec.configSource;
  },
  onExport: ({ spec }: Node, exact: boolean) => {
    if (exact) return;
    delete spec.podCIDR;
    delete spec.podCIDRs;
  },
  rules: [fixedFields, uniqueAddresses],
  warnings: nodeWarnings,
  columns: nodeColumns,
});

function podRanges(ranges: readonly string[]): FieldError[] {
  const errors = ranges.flatMap((range, index) =>
    cidrProblems(range).map((problem) => invalid(`[${index}]`, range, problem)),
  );
  const families = new Set(ranges.map((range) => ipFamily(range.split('/')[0] ?? '')));
  if (errors.length === 0 && families.size < ranges.length) {
    errors.push(invalid('', ranges, 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

function uniqueTaints(taints: readonly TypeOf<typeof Taint>[]): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const errors: FieldError[] = [];
    // Rules of a field do not run on an empty string.
    if (!taint.key)
      addAll(
        errors,
        qualifiedName('').map((each) => invalid(`[${index}].key`, '', each)),
      );
    if (!taint.effect) errors.push(required(`[${index}].effect`));
    const pair = `${taint.effect} ${taint.key}`;
    if (seen.has(pair)) {
      const error = duplicate(`[${index}]`, taint);
      errors.push({ ...error, message: `${error.message}: taints must be unique by key and effect pair` });
    }
    seen.add(pair);
    return errors;
  });
}

/** Fields that cannot be changed once they are set. */
function fixedFields({ spec }: Node, { oldRoot }: RuleContext<Node, Node>): FieldError[] {
  const old = oldRoot?.spec;
  if (!old) return [];
  const errors: FieldError[] = [];
  if (old.podCIDRs?.length && old.podCIDRs.join() !== (spec.podCIDRs ?? []).join()) {
    errors.push(forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  }
  if (old.providerID && old.providerID !== spec.providerID) {
    errors.push(forbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  }
  if ((old.externalID ?? '') !== (spec.externalID ?? '')) {
    errors.push(forbidden('spec.externalID', 'may not be updated'));
  }
  return errors;
}

function uniqueAddresses({ status }: Node, { operation }: RuleContext): FieldError[] {
  if (operation === 'create') return [];
  const seen = new Set<string>();
  return (status.addresses ?? []).flatMap((entry, index) => {
    const key = `${entry.type} ${entry.address}`;
    if (seen.has(key)) return [duplicate(`status.addresses[${index}]`, entry)];
    seen.add(key);
    return [];
  });
}

function nodeWarnings({ spec }: Node): string[] {
  const found: string[] = [];
  if (spec.configSource) found.push('spec.configSource: the feature is removed');
  if (spec.externalID) found.push('spec.externalID: this field is deprecated, and is unused by Kubernetes');
  spec.podCIDRs?.forEach((range, index) => {
    addAll(found, cidrWarnings(`spec.podCIDRs[${index}]`, range));
  });
  return found;
}
