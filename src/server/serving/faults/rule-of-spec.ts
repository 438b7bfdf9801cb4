import type { FaultSpec } from '../../../kinds/groups/testing/fault-spec.ts';
import type { FaultCode, FaultRule } from './fault.ts';

/** Turns a description that was accepted into what the injector follows. */
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
