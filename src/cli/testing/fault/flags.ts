/** The flags of `qd fault`. */
import { FlagError, flag, type ValuesOf } from '../../../base/flag.ts';
import { connectionFlags } from '../../flags/cluster.ts';
import * as value from '../../flags/values.ts';

export const addFaultFlags = [
  flag('--verbs <verbs>', { help: 'verbs of the requests', parse: value.list, defaultText: 'all' }),
  flag('--resources <plurals>', {
    help: 'resources of the requests, such as pods',
    parse: value.list,
    defaultText: 'all',
  }),
  flag('--namespaces <names>', { help: 'namespaces of the requests', parse: value.list, defaultText: 'all' }),
  flag('--users <names>', { help: 'users whose requests are disturbed', parse: value.list, defaultText: 'all' }),
  flag('--rate <share>', { help: 'share of the requests, such as 0.2', parse: share, defaultText: '1' }),
  flag('--error <code>', { help: 'fail with 409, 429, 500 or 503', parse: value.count }),
  flag('--latency <time>', { help: 'perform requests this much later', parse: value.duration }),
  flag('--drop-watches <time>', { help: 'end watches after this time', parse: value.duration }),
  flag('--stale-watches <time>', { help: 'deliver events of watches this much later', parse: value.duration }),
  ...connectionFlags,
] as const;

export type AddFaultFlags = ValuesOf<typeof addFaultFlags>;

export const removeFaultFlags = [flag('--all', { help: 'remove all faults' }), ...connectionFlags] as const;

export type RemoveFaultFlags = ValuesOf<typeof removeFaultFlags>;

function share(text: string): number {
  const rate = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || rate <= 0 || rate > 1) {
    throw new FlagError('It must be a number greater than 0 and at most 1.');
  }
  return rate;
}
