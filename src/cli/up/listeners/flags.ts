import { flag, type ValuesOf } from '../../../base/flag.ts';
import * as value from '../../flags/values.ts';

export const listenerFlags = [
  flag('--bind-address <ip>', {
    help: 'address to listen on; 0.0.0.0 for all IPv4 addresses',
    parse: value.address,
    default: '127.0.0.1',
    remembered: true,
  }),
  flag('--port <port>', {
    help: 'port to listen on; 0 for any free port',
    parse: value.port,
    defaultText: '6443, and the next free port for further clusters',
    remembered: true,
  }),
  flag('--tls-san <names>', {
    help: 'more names and addresses for the serving certificate, such as those of a load balancer, separated by commas; "" for none',
    parse: value.serverNames,
    defaultText: 'none',
    remembered: true,
  }),
  flag('--insecure-port <port>', {
    help: 'also serve plain HTTP without authentication on this port of 127.0.0.1; 0: do not',
    parse: value.port,
    default: 0,
  }),
  flag('--max-connections <count>', {
    help: 'maximum number of connections',
    parse: value.positiveCount,
    default: 10_000,
  }),
  flag('--max-connections-per-address <count>', {
    help: 'maximum number of connections from one address',
    parse: value.positiveCount,
    default: 2_000,
  }),
] as const;

export type ListenerFlags = ValuesOf<typeof listenerFlags>;
