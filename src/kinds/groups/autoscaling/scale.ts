/**
 * The size of a workload, apart from everything else about it: the body of every `scale` subresource. The older versions
 * of the workloads have a Scale of their own, which shows the selector twice.
 */
import { s } from '../../../schema/builders.ts';
import type { ObjectSchema, Schema } from '../../../schema/schema.ts';
import { selectorText } from '../../../schema/selector.ts';
import type { KubeObject } from '../../kind.ts';
import { ObjectMeta } from '../../shapes/meta/object-meta.ts';

export interface Scale extends KubeObject {
  /** Absent is 0. */
  spec: { replicas?: number };
  status: ScaleStatus;
}

interface ScaleStatus {
  replicas: number;
  selector?: string | Readonly<Record<string, string>>;
  targetSelector?: string;
}

/** The selector of a workload, in either of its forms. */
type Selector = Parameters<typeof selectorText>[0];

/** One version of Scale. */
export interface ScaleShape {
  readonly apiVersion: string;
  readonly schema: ObjectSchema<Scale>;
  /** How many pods there are, and how they are found. */
  readonly status: (replicas: number, selector: Selector) => ScaleStatus;
}

/** The Scale that goes with a served version of a workload. */
export function scaleShapeOf(apiVersion: string): ScaleShape {
  return older.get(apiVersion) ?? autoscaling;
}

const selectorWords = { description: 'Which pods are counted, as a query for a list would say it.' };

const autoscaling: ScaleShape = {
  apiVersion: 'autoscaling/v1',
  schema: schemaOf({ selector: s.string(selectorWords) }),
  status(replicas, selector) {
    const text = selectorText(selector);
    return { replicas, ...(text ? { selector: text } : {}) };
  },
};

const olderSchema = schemaOf({
  selector: s.map(s.string(), { description: 'The same as labels, where it can be said with labels alone.' }),
  targetSelector: s.string(selectorWords),
});

const older = new Map<string, ScaleShape>(
  ['apps/v1beta2', 'apps/v1beta1', 'extensions/v1beta1'].map((apiVersion) => [
    apiVersion,
    { apiVersion, schema: olderSchema, status: olderStatus },
  ]),
);

function olderStatus(replicas: number, selector: Selector): ScaleStatus {
  const targetSelector = selectorText(selector);
  const labels = labelsOf(selector);
  return { replicas, ...(labels ? { selector: labels } : {}), ...(targetSelector ? { targetSelector } : {}) };
}

/** Undefined where labels alone do not say it. */
function labelsOf(selector: any): Readonly<Record<string, string>> | undefined {
  if (!selector || selector.matchExpressions) return undefined;
  return typeof selector.matchLabels === 'object' ? selector.matchLabels : selector;
}

function schemaOf(selectors: Readonly<Record<string, Schema>>): ObjectSchema<Scale> {
  return s.object(
    'Scale',
    {
      kind: s.string(),
      apiVersion: s.string(),
      metadata: s.use(ObjectMeta, { default: {} }),
      spec: s.object(
        'ScaleSpec',
        { replicas: s.int32({ min: 0, omitZero: true, description: 'How many pods there should be.' }) },
        { default: {}, description: 'What is wanted.' },
      ),
      status: s.object(
        'ScaleStatus',
        { replicas: s.int32({ zero: true, description: 'How many pods there are.' }), ...selectors },
        { default: {}, description: 'What there is.' },
      ),
    },
    { description: 'The size of a workload.' },
  ) as unknown as ObjectSchema<Scale>;
}
