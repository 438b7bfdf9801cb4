import { flag } from '../../../base/flag.ts';
import { defaultStore, storeDriverFlags, storeNames } from '../../../store/drivers.ts';
import { encryptionKeyFileFlag } from '../../flags/encryption.ts';
import * as value from '../../flags/values.ts';

export const storeFlags = [
  flag('--store <store>', {
    help: 'where objects are stored',
    choices: storeNames,
    default: defaultStore,
    remembered: true,
    fixed: (from, to) => `the objects of this cluster are stored in ${from}: --store ${to} needs another --data-dir`,
  }),
  ...storeDriverFlags,
  flag('--history-duration <time>', {
    help: 'how far back watches and lists at a resourceVersion can go',
    parse: value.duration,
    defaultText: '5m',
  }),
  flag('--history-bytes <size>', {
    help: 'maximum size of that history; etcd ignores it',
    parse: value.bytes,
    defaultText: '64Mi',
  }),
  encryptionKeyFileFlag,
] as const;
