/**
 * The metrics of an autoscaler as autoscaling/v1 writes them: it has no fields for them, so that they stand in
 * annotations, in the form of an even older version. That form is flat, and it cannot say everything.
 */
import { getPath, setPath, type Tree } from '../../../base/tree.ts';
import { s } from '../../../schema/builders.ts';
import { decode } from '../../../schema/decode.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';
import { CrossVersionObjectReference } from './cross-version-reference.ts';
import { MetricSelector, MetricSpec, MetricStatus } from './metric.ts';

/** Where a value stands in a metric of this version, and in one of the older form. */
type Move = readonly [newer: string, older: string];

const NAME: Move = ['metric.name', 'metricName'];
const SELECTOR: Move = ['metric.selector', 'selector'];
const EXTERNAL_SELECTOR: Move = ['metric.selector', 'metricSelector'];
const OBJECT: Move = ['describedObject', 'target'];
const RESOURCE: Move = ['name', 'name'];
const CONTAINER: Move = ['container', 'container'];

/** Both forms of what is wanted, or of what was found, with the way from one to the other. */
export interface MetricForm<T> {
  readonly newer: ObjectSchema<T>;
  readonly older: ObjectSchema<any>;
  readonly moves: Readonly<Record<string, readonly Move[]>>;
  /** What follows from the rest in the older form. */
  readonly complete: (metric: any) => T;
}

const type = s.string({ zero: true });
const name = s.string({ zero: true });
const amount = s.quantity();
/** An amount that the older form cannot leave out. */
const always = s.quantity({ zero: true });
const hundredths = s.int32();
const ofMetric = { metricName: s.string({ zero: true }), selector: MetricSelector };
const ofObject = { target: s.use(CrossVersionObjectReference, { zero: true }), ...ofMetric, averageValue: amount };
const external = { metricName: s.string({ zero: true }), metricSelector: MetricSelector };
const wanted = { name, targetAverageUtilization: hundredths, targetAverageValue: amount };
const found = { name, currentAverageUtilization: hundredths, currentAverageValue: always };

export const specForm: MetricForm<MetricSpec> = {
  newer: MetricSpec,
  older: s.object('MetricSpec', {
    type,
    object: s.object('ObjectMetricSource', { ...ofObject, targetValue: always }),
    pods: s.object('PodsMetricSource', { ...ofMetric, targetAverageValue: always }),
    resource: s.object('ResourceMetricSource', wanted),
    containerResource: s.object('ContainerResourceMetricSource', { ...wanted, container: name }),
    external: s.object('ExternalMetricSource', { ...external, targetValue: amount, targetAverageValue: amount }),
  }),
  moves: movesOf('target'),
  complete: withTargetType,
};

export const statusForm: MetricForm<MetricStatus> = {
  newer: MetricStatus,
  older: s.object('MetricStatus', {
    type,
    object: s.object('ObjectMetricStatus', { ...ofObject, currentValue: always }),
    pods: s.object('PodsMetricStatus', { ...ofMetric, currentAverageValue: always }),
    resource: s.object('ResourceMetricStatus', found),
    containerResource: s.object('ContainerResourceMetricStatus', { ...found, container: name }),
    external: s.object('ExternalMetricStatus', { ...external, currentValue: always, currentAverageValue: amount }),
  }),
  moves: movesOf('current'),
  complete: (metric) => metric,
};

function movesOf(side: 'target' | 'current'): Readonly<Record<string, readonly Move[]>> {
  const value: Move = [`${side}.value`, `${side}Value`];
  const average: Move = [`${side}.averageValue`, `${side}AverageValue`];
  const utilization: Move = [`${side}.averageUtilization`, `${side}AverageUtilization`];
  return {
    object: [OBJECT, NAME, value, SELECTOR, [`${side}.averageValue`, 'averageValue']],
    pods: [NAME, average, SELECTOR],
    resource: [RESOURCE, utilization, average],
    containerResource: [RESOURCE, utilization, average, CONTAINER],
    external: [NAME, EXTERNAL_SELECTOR, value, average],
  };
}

export function toOlder<T>(form: MetricForm<T>, metric: T): Tree {
  return decode(
    form.older,
    moved(form, metric as Tree, (move) => move),
  );
}

export function toNewer<T>(form: MetricForm<T>, metric: Tree): T {
  const turned = moved(form, decode(form.older, metric), ([newer, older]) => [older, newer]);
  return decode(form.newer, form.complete(turned));
}

function moved({ moves }: Pick<MetricForm<unknown>, 'moves'>, metric: Tree, turn: (move: Move) => Move): Tree {
  const out: Tree = { type: metric.type };
  for (const [source, paths] of Object.entries(moves)) {
    if (metric[source] === undefined) continue;
    let tree = {};
    for (const move of paths) {
      const [from, to] = turn(move);
      const value = getPath(metric[source], from);
      if (value !== undefined) tree = setPath(tree, to, value);
    }
    out[source] = tree;
  }
  return out;
}

/** Which number counts; the older form has no word for it. */
function withTargetType(metric: any): MetricSpec {
  const out = { ...metric };
  for (const source of Object.keys(specForm.moves)) {
    if (out[source]) out[source] = { ...out[source], target: typed(source, out[source].target ?? {}) };
  }
  return out;
}

function typed(source: string, target: any) {
  switch (source) {
    case 'object': {
      if (target.averageValue === undefined) return { ...target, type: 'Value' };
      // Zero stands for a value that was not there.
      const { value, ...rest } = target;
      return { ...(value === '0' ? rest : target), type: 'AverageValue' };
    }
    case 'external':
      return { ...target, type: target.value === undefined ? 'AverageValue' : 'Value' };
    case 'pods':
      return { ...target, type: 'AverageValue' };
    default:
      return { ...target, type: target.averageUtilization === undefined ? 'AverageValue' : 'Utilization' };
  }
}
