import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError } from '../../../schema/field-error.ts';
import { dnsLabel } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { validate } from '../../../schema/validate.ts';
import { age, name, text } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { ContainerResources } from '../../shapes/container/resources.ts';
import { labels } from '../../shapes/meta/label-selector.ts';
import { Toleration } from '../../shapes/pod/toleration.ts';
import { nodeLabelWarning } from '../../warnings/node-labels.ts';

const overhead = {
  podFixed: s.map(s.quantity(), { description: 'What running a pod takes besides its containers.' }),
};

/** How pods are run. */
export const RuntimeClass = defineKind({
  group: 'node.k8s.io',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
  description: 'A way to run containers, such as inside a small virtual machine, that pods can ask for by its name.',
  versions: { 'node.k8s.io/v1': {} },
  fields: {
    handler: s.string({
      zero: true,
      required: true,
      immutable: true,
      description: "What the node's container runtime calls it. Cannot be changed.",
      rules: [matches(dnsLabel)],
    }),
    overhead: s.object('Overhead', overhead, {
      description: 'Counts towards what a pod requests.',
      rules: [amounts],
    }),
    scheduling: s.object(
      'Scheduling',
      {
        nodeSelector: s.map(s.string(), {
          atomic: true,
          description: 'The labels of the nodes that have it; pods of the class get them into their own selector.',
          rules: [labels],
        }),
        tolerations: s.list(Toleration, {
          description: 'Added to those of the pods, so that they may use these nodes.',
          rules: [differentTolerations],
        }),
      },
      { description: 'Where pods of the class can run; without it, everywhere.' },
    ),
  },
  requiresVersion: true,
  createOnUpdate: true,
  warnings: labelWarnings,
  columns: [name, text('Handler', 'What the node runs such pods with.', ({ handler }) => handler ?? ''), age],
});
export type RuntimeClass = ObjectOf<typeof RuntimeClass>;

/** The same rules as for the limits of a container, and the same paths. */
function amounts({ podFixed }: ObjectType<typeof overhead>): FieldError[] {
  const context = { operation: 'create', old: undefined, subresource: undefined } as const;
  return podFixed ? validate(ContainerResources, { limits: podFixed }, context) : [];
}

function differentTolerations(tolerations: readonly Toleration[]): FieldError[] {
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

function labelWarnings({ scheduling }: any): string[] {
  const words = Object.keys(scheduling?.nodeSelector ?? {}).map(nodeLabelWarning);
  return words.flatMap((each) => (each ? [`scheduling.nodeSelector: ${each}`] : []));
}
