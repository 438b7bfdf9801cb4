import { flag } from '../../../base/flag.ts';
import { defaultStore, storeDriverFlags, storeNames } from '../../../store/drivers.ts';
import { token } from '../../credentials/token/flags.ts';
import { encryptionKeyFileFlag } from '../../flags/encryption.ts';
import * as value from '../../flags/values.ts';

const DAY_MS = 86_400_000;

export const storeFlags = [
  flag('--store <store>', {
    help: 'where objects are stored',
    choices: storeNames,
    default: defaultStore,
    remembered: true,
    fixed: (from, to) =>
      `the objects of this cluster are stored in ${from}: qd store migrate moves them, and --store ${to} needs another --data-dir`,
  }),
  ...storeDriverFlags,
  flag('--ha', {
    help: 'run an etcd on this machine, with the objects in it, so that further servers can join: qd token create --server',
    remembered: true,
  }),
  flag('--join <url>', {
    help: 'join the servers of a cluster, of which one is at this URL; needs --token and --ca-hash: qd token create --server prints the command',
    parse: value.serverUrl,
  }),
  flag('--token <token>', { help: 'token for servers to join with', parse: token }),
  flag('--ca-hash <hash>', { help: "hash of the key of the cluster's certificate authority" }),
  flag('--server-name <name>', {
    help: 'with --ha, the name of this server among those of the cluster',
    parse: value.nodeName,
    defaultText: 'the name of this machine',
    remembered: true,
  }),
  flag('--etcd-port <port>', {
    help: 'with --ha, port of --bind-address where that etcd serves servers',
    parse: value.port,
    defaultText: '2379',
    remembered: true,
  }),
  flag('--etcd-peer-port <port>', {
    help: 'with --ha, port of --bind-address where that etcd talks with those of other servers',
    parse: value.port,
    defaultText: '2380',
    remembered: true,
  }),
  flag('--history-duration <time>', {
    help: 'how long past objects and their changes are kept on disk; 0: they are not',
    parse: value.durationOrNone,
    default: 7 * DAY_MS,
    defaultText: '7d',
  }),
  flag('--history-bytes <size>', {
    help: 'maximum size of that history, above which the oldest changes are deleted; 0: there is none',
    parse: value.bytes,
    default: 2 * 2 ** 30,
    defaultText: '2Gi',
  }),
  flag('--watch-history-duration <time>', {
    help: 'how far back watches and lists at a resourceVersion can go',
    parse: value.duration,
    defaultText: '5m',
  }),
  flag('--watch-history-bytes <size>', {
    help: 'maximum size of what they need; etcd ignores it',
    parse: value.bytes,
    defaultText: '64Mi',
  }),
  encryptionKeyFileFlag,
] as const;
