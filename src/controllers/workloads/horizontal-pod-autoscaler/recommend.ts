/** Combines the proposals of an autoscaler's metrics. */
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import type { MetricStatus } from '../../../kinds/groups/autoscaling/metric.ts';
import type { Condition } from '../../shared/conditions.ts';
import { type MetricError, type Proposal, type ProposalInput, proposalOf } from './metrics/proposals.ts';
import type { Reading, SeenMetric } from './metrics/readings.ts';

export interface Recommendation {
  /** Proposed size; undefined when it cannot be determined, and nothing is done. */
  readonly wanted: Pick<Proposal, 'replicas' | 'metric'> | undefined;
  /** Statuses in the order of the metrics. */
  readonly found: readonly MetricStatus[];
  readonly active: ConditionContent;
  readonly errors: readonly MetricError[];
  /** The errors as one message; undefined when there are none. */
  readonly summary: string | undefined;
}

/** The highest proposal wins. When some metrics fail, the size does not shrink: they might have asked for more. */
export function* recommend(
  metrics: readonly SeenMetric[],
  readings: readonly Reading[],
  { pace, ...at }: ProposalInput & { readonly pace: Pace },
): DividedWork<Recommendation> {
  const outcomes: ReturnType<typeof proposalOf>[] = [];
  for (const [index, metric] of metrics.entries()) {
    if (pace.isSpent()) yield;
    outcomes.push(proposalOf(metric, readings[index] ?? { type: 'problem', why: 'it was not read' }, at));
  }
  const proposals = outcomes.filter((each): each is Proposal => 'replicas' in each);
  const errors = outcomes.filter((each): each is MetricError => 'reason' in each);
  const found = outcomes.map((each) => ('replicas' in each ? each.status : { type: '' }));
  const [first] = errors;
  const summary =
    first && `invalid metrics (${errors.length} invalid out of ${metrics.length}), first error is: ${first.inContext}`;
  const wanted = proposals.reduce<Proposal | undefined>(
    (most, each) => (most === undefined || each.replicas > most.replicas ? each : most),
    undefined,
  );
  if (!wanted || (first && wanted.replicas < at.replicas)) {
    const { reason = '', message = '' } = first ?? {};
    const said = `the HPA was unable to compute the replica count: ${message}`;
    return { wanted: undefined, found, active: active(false, reason, said), errors, summary };
  }
  const said = `the HPA was able to successfully calculate a replica count from ${wanted.metric}`;
  return { wanted, found, active: active(true, 'ValidMetricFound', said), errors, summary };
}

const active = (isTrue: boolean, reason: string, message: string): ConditionContent =>
  condition('ScalingActive', isTrue, reason, message);

/** A condition of an autoscaler, without its time. */
export type ConditionContent = Omit<Condition, 'lastTransitionTime'>;

export const condition = (
  type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited',
  isTrue: boolean,
  reason: string,
  message: string,
): ConditionContent => ({ type, status: isTrue ? 'True' : 'False', reason, message });
