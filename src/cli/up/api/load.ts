/** How many requests and connections are accepted at the same time. */

import type { Limits } from '../../../server/serving/http/limits.ts';
import type { FlowControlSettings } from '../../../server/upkeep/flow-control/create-flow-control.ts';
import { CliError } from '../../output/cli-error.ts';
import type { ListenerFlags } from '../listeners/flags.ts';
import type { ApiFlags } from './flags.ts';

type FlowControlFlags = Pick<
  ApiFlags,
  'enablePriorityAndFairness' | 'maxRequestsInflight' | 'maxMutatingRequestsInflight' | 'requestTimeout'
>;

export function flowControlSettings(settings: FlowControlFlags): FlowControlSettings {
  const { enablePriorityAndFairness: priorityAndFairness, requestTimeout: requestTimeoutMs } = settings;
  const { maxRequestsInflight: maxReading, maxMutatingRequestsInflight: maxMutating } = settings;
  if (priorityAndFairness && maxReading + maxMutating === 0) {
    throw new CliError(
      '--max-requests-inflight and --max-mutating-requests-inflight must not both be 0: no request could be served',
    );
  }
  if (requestTimeoutMs === 0) throw new CliError('--request-timeout must be greater than zero');
  return { priorityAndFairness, maxReading, maxMutating, requestTimeoutMs };
}

type LimitFlags = Pick<ApiFlags, 'requestTimeout'> & Pick<ListenerFlags, 'maxConnections' | 'maxConnectionsPerAddress'>;

export function limits(settings: LimitFlags): Partial<Limits> {
  const { requestTimeout: requestTimeoutMs, maxConnections, maxConnectionsPerAddress } = settings;
  return { requestTimeoutMs, maxConnections, maxConnectionsPerAddress };
}
