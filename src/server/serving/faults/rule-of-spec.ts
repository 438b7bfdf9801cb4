import type { FaultSpec } from '../../../kinds/groups/testing/fault-spec.ts';
import type { FaultCode, FaultRule } from './fault.ts';

/** Converts an accepted description to a rule of the injector. */
export function ruleOfSpec(spec: FaultSpec): FaultRule {
  const { latencyMilliseconds, dropWatchesAfterMilliseconds, staleWatchesMilliseconds, error, ...match } = spec;
  return {
    ...match,
    error: error as FaultCode | undefined,
    latencyMs: latencyMilliseconds,
    dropWatchesAfterMs: dropWatchesAfterMilliseconds,
    staleWatchesMs: staleWatchesMilliseconds,
  };
}
