import { flag } from '../../base/flag.ts';
import * as value from './values.ts';

/** How many requests that write an API server handles at a time, and how long each may take. */
export const requestLimitFlags = [
  flag('--max-mutating-requests-inflight <count>', {
    help: 'the same for requests that write',
    parse: value.count,
    default: 200,
  }),
  flag('--request-timeout <time>', {
    help: 'maximum duration of a request, watches excepted',
    parse: value.duration,
    default: 60_000,
    defaultText: '1m',
  }),
] as const;
