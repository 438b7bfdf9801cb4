/** How many requests and connections are accepted at the same time. */
import type { FairnessSettings } from '../../../server/fairness/create.ts';
import type { Limits } from '../../../server/http/limits.ts';
import { CliError } from '../../output/cli-error.ts';
import type { ListenerFlags } from '../listeners/flags.ts';
import type { ApiFlags } from './flags.ts';

type FairnessFlags = Pick<
  ApiFlags,
  'enablePriorityAndFairness' | 'maxRequestsInflight' | 'maxMutatingRequestsInflight' | 'requestTimeout'
>;

export function fairness(settings: FairnessFlags): FairnessSettings {
  const { enablePriorityAndFairness: byFlow, requestTimeout } = settings;
  const { maxRequestsInflight: reading, maxMutatingRequestsInflight: mutating } = settings;
  if (byFlow && reading + mutating === 0) {
    throw new CliError(
      '--max-requests-inflight and --max-mutating-requests-inflight must not both be 0: no request could be served',
    );
  }
  if (requestTimeout === 0) throw new CliError('--request-timeout must be greater than zero');
  return { byFlow, reading, mutating, requestTimeout };
}

type LimitFlags = Pick<ApiFlags, 'requestTimeout'> & Pick<ListenerFlags, 'maxConnections' | 'maxConnectionsPerAddress'>;

export function limits(settings: LimitFlags): Partial<Limits> {
  const { requestTimeout: requestTimeoutMs, maxConnections, maxConnectionsPerAddress } = settings;
  return { requestTimeoutMs, maxConnections, maxConnectionsPerAddress };
}
