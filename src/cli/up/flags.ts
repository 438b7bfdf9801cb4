/** The flags of `qd up`. */
import { Command, Option } from 'commander';
import * as value from '../flags/values.ts';
import { levels } from '../output/logger.ts';
import { type AdmissionFlags, withAdmissionFlags } from './api/admission-flags.ts';
import { type AuthorizationFlags, withAuthorizationFlags } from './api/authorization.ts';
import { type LoadFlags, withLoadFlags } from './api/load-flags.ts';
import { type ControllersFlags, withControllersFlags } from './components/controllers-flag.ts';
import { type NodeFlags, withNodeFlags } from './components/nodes.ts';
import { type IdentityFlags, withIdentityFlags } from './identity/identity-flags.ts';
import { type AuditFlags, withAuditFlags } from './observability/audit.ts';
import { type EncryptionFlags, withEncryptionFlags } from './store/encryption.ts';
import { type EtcdFlags, withEtcdFlags } from './store/etcd.ts';

const storeNames = ['embedded', 'etcd', 'memory'] as const;
export type StoreName = (typeof storeNames)[number];

/** What was given; absent values come from the directory, then from the defaults (settings.ts). */
export interface UpFlags
  extends EtcdFlags,
    ControllersFlags,
    EncryptionFlags,
    IdentityFlags,
    AuthorizationFlags,
    AdmissionFlags,
    AuditFlags,
    LoadFlags,
    NodeFlags {
  readonly name: string;
  readonly dataDir?: string;
  readonly bindAddress?: string;
  readonly port?: number;
  readonly insecurePort: number;
  readonly store?: StoreName;
  readonly historyDuration?: number;
  readonly historyBytes?: number;
  readonly kubeconfig?: string;
  readonly serviceClusterIpRange?: string;
  readonly serviceNodePortRange?: value.PortRange;
  readonly logLevel?: (typeof levels)[number];
}

export function upCommand(run: (flags: UpFlags) => Promise<void>): Command {
  const command = new Command('up')
    .description('Starts a cluster on this machine, or goes on with the one in the data directory.')
    .option('--name <name>', 'the name of the cluster, its directory and its context', value.clusterName, 'quarterdeck')
    .option('--data-dir <dir>', 'where the cluster lives (default: ~/.quarterdeck/NAME)')
    .option('--bind-address <ip>', 'the address to listen on (default: 127.0.0.1)', value.address)
    .option('--port <port>', 'the port to listen on; 0 for any free one (default: 6443)', value.port)
    .option('--insecure-port <port>', 'serve plain HTTP on 127.0.0.1 without authentication; 0: no', value.port, 0)
    .addOption(new Option('--store <store>', 'what keeps the objects (default: embedded)').choices(storeNames))
    .option('--history-duration <time>', 'how long watches can go back (default: 5m)', value.duration)
    .option('--history-bytes <size>', 'how much history is kept at most (default: 64Mi)', value.bytes)
    .option('--kubeconfig <file>', "where the admin's kubeconfig goes (default: DIR/admin.kubeconfig and your own)")
    .option('--service-cluster-ip-range <cidr>', 'addresses of services (default: 10.96.0.0/16)', value.serviceRange)
    .option('--service-node-port-range <range>', 'node ports of services (default: 30000-32767)', value.portRange)
    .addOption(new Option('--log-level <level>', 'how much is logged').choices(levels));
  const groups = [
    ...[withEtcdFlags, withControllersFlags, withEncryptionFlags, withIdentityFlags],
    ...[withAuthorizationFlags, withAdmissionFlags, withAuditFlags, withLoadFlags, withNodeFlags],
  ];
  return groups.reduce((all, withFlags) => withFlags(all), command).action((flags: UpFlags) => run(flags));
}
