/**
 * Metrics in the form that autoscaling/v1 writes into annotations, which is that of v2beta1: flat, and unable to express
 * everything.
 */
import { getPath, isTree, setPath, type Tree } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { decodeUnlimited } from '../../../schema/decode/decode.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';
import { CrossVersionObjectReference } from './cross-version-reference.ts';
import { MetricSelector, MetricSpec, MetricStatus } from './metric.ts';

/** Path of a value in the current form of a metric, and in the older form. */
type PathPair = readonly [newer: string, older: string];

const NAME: PathPair = ['metric.name', 'metricName'];
const SELECTOR: PathPair = ['metric.selector', 'selector'];
const EXTERNAL_SELECTOR: PathPair = ['metric.selector', 'metricSelector'];
const OBJECT: PathPair = ['describedObject', 'target'];
const RESOURCE: PathPair = ['name', 'name'];
const CONTAINER: PathPair = ['container', 'container'];

/** Both forms of a metric (in a spec or in a status), and how one converts to the other. */
export interface MetricForm<T> {
  readonly newer: ObjectSchema<T>;
  readonly older: ObjectSchema<Tree>;
  readonly moves: Readonly<Record<string, readonly PathPair[]>>;
  /** Fills in fields that the older form does not have. */
  readonly complete: (metric: Tree) => Tree;
}

const type = s.string({ zero: true });
const name = s.string({ zero: true });
const amount = s.quantity();
/** An amount that is required in the older form. */
const requiredAmount = s.quantity({ zero: true });
const percentage = s.int32();
const ofMetric = { metricName: s.string({ zero: true }), selector: MetricSelector };
const ofObject = { target: s.use(CrossVersionObjectReference, { zero: true }), ...ofMetric, averageValue: amount };
const external = { metricName: s.string({ zero: true }), metricSelector: MetricSelector };
const wanted = { name, targetAverageUtilization: percentage, targetAverageValue: amount };
const found = { name, currentAverageUtilization: percentage, currentAverageValue: requiredAmount };

export const specForm: MetricForm<MetricSpec> = {
  newer: MetricSpec,
  older: s.object('MetricSpec', {
    type,
    object: s.object('ObjectMetricSource', { ...ofObject, targetValue: requiredAmount }),
    pods: s.object('PodsMetricSource', { ...ofMetric, targetAverageValue: requiredAmount }),
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
    object: s.object('ObjectMetricStatus', { ...ofObject, currentValue: requiredAmount }),
    pods: s.object('PodsMetricStatus', { ...ofMetric, currentAverageValue: requiredAmount }),
    resource: s.object('ResourceMetricStatus', found),
    containerResource: s.object('ContainerResourceMetricStatus', { ...found, container: name }),
    external: s.object('ExternalMetricStatus', {
      ...external,
      currentValue: requiredAmount,
      currentAverageValue: amount,
    }),
  }),
  moves: movesOf('current'),
  complete: (metric) => metric,
};

function movesOf(side: 'target' | 'current'): Readonly<Record<string, readonly PathPair[]>> {
  const value: PathPair = [`${side}.value`, `${side}Value`];
  const average: PathPair = [`${side}.averageValue`, `${side}AverageValue`];
  const utilization: PathPair = [`${side}.averageUtilization`, `${side}AverageUtilization`];
  return {
    object: [OBJECT, NAME, value, SELECTOR, [`${side}.averageValue`, 'averageValue']],
    pods: [NAME, average, SELECTOR],
    resource: [RESOURCE, utilization, average],
    containerResource: [RESOURCE, utilization, average, CONTAINER],
    external: [NAME, EXTERNAL_SELECTOR, value, average],
  };
}

export function toOlder<T>(form: MetricForm<T>, metric: T): Tree {
  return decodeUnlimited(
    form.older,
    moved(form, metric as Tree, (move) => move),
  );
}

export function toNewer<T>(form: MetricForm<T>, metric: Tree): T {
  const turned = moved(form, decodeUnlimited(form.older, metric), ([newer, older]) => [older, newer]);
  return decodeUnlimited(form.newer, form.complete(turned));
}

function moved({ moves }: Pick<MetricForm<unknown>, 'moves'>, metric: Tree, turn: (move: PathPair) => PathPair): Tree {
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

/** Sets the type of the target, which the older form does not have. */
function withTargetType(metric: Tree): Tree {
  const out = { ...metric };
  for (const source of Object.keys(specForm.moves)) {
    const value = out[source];
    if (isTree(value)) out[source] = { ...value, target: typed(source, isTree(value.target) ? value.target : {}) };
  }
  return out;
}

function typed(source: string, target: Tree): Tree {
  switch (source) {
    case 'object': {
      if (target.averageValue === undefined) return { ...target, type: 'Value' };
      // Zero stands for an absent value.
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
