/** The flags of `qd federation-controller-manager`. */
import { flag, type ValuesOf } from '../../../base/flag.ts';
import { DNS_PROVIDERS } from '../../../federation/dns/provider.ts';
import * as value from '../../flags/values.ts';
import { verbosityFlags } from '../../flags/verbosity.ts';

export const federationManagerFlags = [
  flag('--kubeconfig <file>', { help: 'kubeconfig of the federation API server; required', parse: value.file }),
  flag('--master <url>', {
    help: 'address of the federation API server',
    parse: value.serverUrl,
    defaultText: 'that of the kubeconfig',
  }),
  flag('--federation-name <name>', { help: 'name of the federation, which is part of the names of services' }),
  flag('--zone-name <domain>', { help: 'zone of the DNS provider that federated services are published to' }),
  flag('--service-dns-suffix <domain>', {
    help: 'domain that the names of federated services end with; it is in the zone',
    defaultText: 'that of --zone-name',
  }),
  flag('--dns-provider <name>', {
    help: 'DNS provider that federated services are published to',
    choices: DNS_PROVIDERS,
  }),
  flag('--dns-provider-config <file>', { help: 'configuration of the DNS provider', parse: value.file }),
  flag('--cluster-monitor-period <time>', {
    help: 'time between health checks of a cluster',
    parse: value.duration,
    default: 5_000,
    defaultText: '5s',
  }),
  flag('--cluster-unavailable-delay <time>', {
    help: 'how long a cluster may not answer before others take over its replicas',
    parse: value.duration,
    default: 20_000,
    defaultText: '20s',
  }),
  flag('--pod-unschedulable-delay <time>', {
    help: 'how long pods may wait for a node before their replicas go to other clusters',
    parse: value.duration,
    default: 60_000,
    defaultText: '1m',
  }),
  flag('--controllers <list>', {
    help: 'kinds to propagate, or not to: services=false,ingresses=false',
    parse: value.switches,
    defaultText: 'all that are federated',
  }),
  flag('--leader-elect [bool]', {
    help: 'run the controllers only while holding a lease of the host cluster, so that one of several managers does',
    parse: value.boolean,
    default: true,
  }),
  ...verbosityFlags,
] as const;

export type FederationManagerFlags = ValuesOf<typeof federationManagerFlags>;
