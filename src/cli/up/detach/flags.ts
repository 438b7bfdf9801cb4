import { flag } from '../../../base/flag.ts';
import * as value from '../../flags/values.ts';

export const detachFlags = [
  flag('--wait [bool]', {
    help: 'wait until nodes with real pods are ready, for at most a minute; off: for the API alone',
    parse: value.boolean,
    default: true,
    defaultText: 'on',
  }),
  flag('--detach', { help: 'run in the background, with the log in DIR/qd.log; returns when the cluster is ready' }),
] as const;
