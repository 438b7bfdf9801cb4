/** How much load is taken from whom, from the flags. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { FairnessSettings } from '../../../server/fairness/create.ts';
import type { Limits } from '../../../server/http/limits.ts';
import * as value from '../../flags/values.ts';
import { CliError } from '../../output/cli-error.ts';

export interface LoadFlags {
  readonly enablePriorityAndFairness: boolean;
  readonly maxRequestsInflight: number;
  readonly maxMutatingRequestsInflight: number;
  /** Milliseconds. */
  readonly requestTimeout: number;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
}

export function withLoadFlags(command: Command): Command {
  return command
    .option('--enable-priority-and-fairness [bool]', 'sort requests by flow schemas into levels', value.flag, true)
    .option(
      '--max-requests-inflight <count>',
      'requests that read at the same time, or with the next: seats',
      count,
      400,
    )
    .option('--max-mutating-requests-inflight <count>', 'requests that write at the same time', count, 200)
    .addOption(
      new Option('--request-timeout <time>', 'how long a request may take that is no watch')
        .argParser(value.duration)
        .default(60_000, '1m'),
    )
    .option('--max-connections <count>', 'connections at the same time', positive, 10_000)
    .option('--max-connections-per-address <count>', 'connections from one address', positive, 2_000);
}

function count(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function positive(text: string): number {
  const number = count(text);
  if (number === 0) throw new InvalidArgumentError('It must be above zero.');
  return number;
}

/** How the server's options say it. */
export function fairness(flags: LoadFlags): { fairness: FairnessSettings } {
  const { enablePriorityAndFairness: byFlow, requestTimeout } = flags;
  const { maxRequestsInflight: reading, maxMutatingRequestsInflight: mutating } = flags;
  if (byFlow && reading + mutating === 0) {
    throw new CliError('--max-requests-inflight and --max-mutating-requests-inflight are both 0: there are no seats');
  }
  if (requestTimeout === 0) throw new CliError('--request-timeout must be above zero');
  return { fairness: { byFlow, reading, mutating, requestTimeout } };
}

/** How the front end's options say it. */
export function limits(flags: LoadFlags): { limits: Partial<Limits> } {
  const { requestTimeout, maxConnections: connections, maxConnectionsPerAddress: connectionsPerAddress } = flags;
  return { limits: { requestTimeout, connections, connectionsPerAddress } };
}
