import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError } from '../../../schema/field-error.ts';
import { dnsLabel } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { validate } from '../../../schema/validate.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { ContainerResources } from '../../shapes/container/resources.ts';
import { labels } from '../../shapes/meta/label-selector.ts';
import { Toleration } from '../../shapes/pod/scheduling/toleration.ts';
import { nodeLabelWarning } from '../../warnings/node-labels.ts';

const overhead = {
  podFixed: s.map(
    s.quantity(),
    'Resources, by name, that running a pod consumes in addition to its containers, such as the memory of a virtual machine.',
  ),
};

/** A container runtime configuration that pods can choose. */
export const RuntimeClass = defineKind({
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  description:
    'A container runtime configuration that pods can choose with spec.runtimeClassName, for example one that isolates containers in virtual machines.',
  versions: { 'node.k8s.io/v1': {} },
  fields: {
    handler: s.string(
      'Name of the configuration in the container runtime of the nodes. Must be a DNS label. Required; cannot be changed.',
      { zero: true, required: true, immutable: true, rules: [matches(dnsLabel)] },
    ),
    overhead: s.object(
      'Overhead',
      'Resources that are added to what a pod of this class requests, for scheduling and quota.',
      overhead,
      { rules: [amounts] },
    ),
    scheduling: s.object('Scheduling', 'Which nodes support the class. Without it, all nodes are assumed to.', {
      nodeSelector: s.map(
        s.string(),
        'Labels of the nodes that support the class. They are merged into the nodeSelector of its pods; a pod with a conflicting one is rejected.',
        { atomic: true, rules: [labels] },
      ),
      tolerations: s.list(
        Toleration,
        'Tolerations added to the pods of the class, so that they can run on tainted nodes that support it.',
        { rules: [uniqueTolerations] },
      ),
    }),
  },
  requiresVersion: true,
  createOnUpdate: true,
  warnings: labelWarnings,
  columns: ({ text }) => [
    name,
    text('Handler', 'Name of the configuration in the container runtime.', ({ handler }) => handler ?? ''),
    age,
  ],
});
export type RuntimeClass = ObjectOf<typeof RuntimeClass>;

/** Checks amounts with the rules and error paths of the limits of a container. */
function amounts({ podFixed }: ObjectType<typeof overhead>): FieldError[] {
  const context = { operation: 'create', old: undefined, subresource: undefined } as const;
  return podFixed ? validate(ContainerResources, { limits: podFixed }, context) : [];
}

function uniqueTolerations(tolerations: readonly Toleration[]): FieldError[] {
  const seen = new Set<string>();
  return tolerations.flatMap(
    ({ key = '', operator = '', value = '', effect = '', tolerationSeconds = null }, index) => {
      const same = JSON.stringify([key, operator, value, effect]);
      if (seen.has(same)) {
        const shown = {
          Key: key,
          Operator: operator,
          Value: value,
          Effect: effect,
          TolerationSeconds: tolerationSeconds,
        };
        return [duplicate(`[${index}]`, shown)];
      }
      seen.add(same);
      return [];
    },
  );
}

interface Scheduled {
  readonly scheduling?: { readonly nodeSelector?: Readonly<Record<string, string>> };
}

function labelWarnings({ scheduling }: Scheduled): string[] {
  const words = Object.keys(scheduling?.nodeSelector ?? {}).map(nodeLabelWarning);
  return words.flatMap((each) => (each ? [`scheduling.nodeSelector: ${each}`] : []));
}
