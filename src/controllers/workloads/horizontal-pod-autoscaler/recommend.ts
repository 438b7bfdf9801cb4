/** How many pods an autoscaler's metrics ask for together. */
import type { MetricStatus } from '../../../kinds/groups/autoscaling/metric.ts';
import { type Circumstances, type Fault, type Proposal, proposalOf } from './metrics/proposals.ts';
import type { Reading, SeenMetric } from './metrics/readings.ts';
import { condition, type Said } from './said.ts';

export interface Recommendation {
  /** Undefined: nothing can be said, and nothing is to be done. */
  readonly wanted: Pick<Proposal, 'replicas' | 'metric'> | undefined;
  /** In the order of the metrics. */
  readonly found: readonly MetricStatus[];
  readonly active: Said;
  /** What is wrong with single metrics, in their order. */
  readonly faults: readonly Fault[];
  /** The same in one sentence; undefined when nothing is. */
  readonly trouble: string | undefined;
}

/**
 * The metric that asks for most decides. Where some say nothing, the others may add pods but take none away: who knows
 * what those would have asked for.
 */
export function recommend(
  metrics: readonly SeenMetric[],
  readings: readonly Reading[],
  at: Circumstances,
): Recommendation {
  const outcomes = metrics.map((metric, index) =>
    proposalOf(metric, readings[index] ?? { type: 'problem', why: 'it was not read' }, at),
  );
  const proposals = outcomes.filter((each): each is Proposal => 'replicas' in each);
  const faults = outcomes.filter((each): each is Fault => 'reason' in each);
  const found = outcomes.map((each) => ('replicas' in each ? each.status : { type: '' }));
  const [first] = faults;
  const trouble =
    first && `invalid metrics (${faults.length} invalid out of ${metrics.length}), first error is: ${first.inContext}`;
  const wanted = proposals.reduce<Proposal | undefined>(
    (most, each) => (most === undefined || each.replicas > most.replicas ? each : most),
    undefined,
  );
  if (!wanted || (first && wanted.replicas < at.replicas)) {
    const { reason = '', message = '' } = first ?? {};
    const said = `the HPA was unable to compute the replica count: ${message}`;
    return { wanted: undefined, found, active: active(false, reason, said), faults, trouble };
  }
  const said = `the HPA was able to successfully calculate a replica count from ${wanted.metric}`;
  return { wanted, found, active: active(true, 'ValidMetricFound', said), faults, trouble };
}

const active = (isTrue: boolean, reason: string, message: string): Said =>
  condition('ScalingActive', isTrue, reason, message);
