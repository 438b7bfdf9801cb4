/**
 * Scale, the body of every `scale` subresource. The older versions of the workloads have their own Scale, which has the
 * selector in two forms.
 */
import { s } from '../../../schema/builders.ts';
import type { ObjectSchema, Schema } from '../../../schema/schema.ts';
import { selectorText } from '../../../schema/selector/selector.ts';
import { age, type Column, columnsOf, name } from '../../columns/column.ts';
import type { KubeObject } from '../../kind.ts';
import { ObjectMeta } from '../../shapes/meta/object-meta.ts';

export interface Scale extends KubeObject {
  /** Spec; absent replicas mean 0. */
  spec: { replicas?: number };
  status: ScaleStatus;
}

interface ScaleStatus {
  replicas: number;
  selector?: string | Readonly<Record<string, string>>;
  targetSelector?: string;
}

/** The selector of a workload, in either of its forms, or as a custom kind writes it: as a text. */
type Selector = Parameters<typeof selectorText>[0] | string;

/** Version of Scale. */
export interface ScaleShape {
  readonly apiVersion: string;
  readonly schema: ObjectSchema<Scale>;
  /** Builds the status. */
  readonly status: (replicas: number, selector: Selector) => ScaleStatus;
}

/** The Scale that goes with a served version of a workload. */
export function scaleShapeOf(apiVersion: string): ScaleShape {
  return older.get(apiVersion) ?? autoscaling;
}

const selector = s.string('Label selector for the counted pods, in the form of the labelSelector query parameter.');

const autoscaling: ScaleShape = {
  apiVersion: 'autoscaling/v1',
  schema: schemaOf({ selector }),
  status(replicas, selector) {
    const text = typeof selector === 'string' ? selector : selectorText(selector);
    return { replicas, ...(text ? { selector: text } : {}) };
  },
};

const olderSchema = schemaOf({
  selector: s.map(
    s.string(),
    'The selector as a map of labels. Absent when it needs more than equality; targetSelector is always complete.',
  ),
  targetSelector: selector,
});

const older = new Map<string, ScaleShape>(
  ['apps/v1beta2', 'apps/v1beta1', 'extensions/v1beta1'].map((apiVersion) => [
    apiVersion,
    { apiVersion, schema: olderSchema, status: olderStatus },
  ]),
);

function olderStatus(replicas: number, selector: Selector): ScaleStatus {
  if (typeof selector === 'string') return { replicas, targetSelector: selector };
  const targetSelector = selectorText(selector);
  const labels = labelsOf(selector);
  return { replicas, ...(labels ? { selector: labels } : {}), ...(targetSelector ? { targetSelector } : {}) };
}

/** Returns the labels; undefined if the selector needs more than equality. */
function labelsOf(selector: Exclude<Selector, string>): Readonly<Record<string, string>> | undefined {
  if (!selector || selector.matchExpressions) return undefined;
  const { matchLabels } = selector;
  return typeof matchLabels === 'object' ? matchLabels : (selector as Readonly<Record<string, string>>);
}

function schemaOf(selectors: Readonly<Record<string, Schema>>): ObjectSchema<Scale> {
  return s.object(
    'Scale',
    'The size of a workload, as its `scale` subresource shows it. Writing it changes the number of replicas and nothing else.',
    {
      kind: s.string('Kind of this object: Scale.'),
      apiVersion: s.string('API group and version of this object, such as autoscaling/v1.'),
      metadata: s.use(ObjectMeta, 'Name, namespace, UID and resourceVersion of the scaled object.', { default: {} }),
      spec: s.struct('ScaleSpec', 'Desired size of the workload.', {
        replicas: s.int32('Number of pods to run. 0 stops them all.', { min: 0, omitZero: true }),
      }),
      status: s.struct('ScaleStatus', 'Current size of the workload.', {
        replicas: s.int32('Number of pods that currently exist.', { zero: true }),
        ...selectors,
      }),
    },
  ) as unknown as ObjectSchema<Scale>;
}

/** Table columns of a Scale, which is served only as a subresource. */
export const scaleColumns: readonly Column<Scale>[] = columnsOf(({ text, integer }) => [
  text(name.name, name.description, name.cell),
  integer('Desired', 'Desired number of pods.', ({ spec }) => spec?.replicas),
  integer('Available', 'Current number of pods.', ({ status }) => status?.replicas),
  age,
]);
