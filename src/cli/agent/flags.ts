/** The flags of `qd agent`. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { FlagError, flag, type ValuesOf } from '../../base/flag.ts';
import { token } from '../credentials/token/flags.ts';
import { machineName } from '../flags/machine-name.ts';
import { remoteUpgradesFlag } from '../flags/remote-upgrades.ts';
import * as value from '../flags/values.ts';
import { nodeFlags } from './node-flags.ts';

export const agentFlags = [
  flag('--server <url>', { help: 'address of the API server', parse: oneServer, remembered: true }),
  flag('--token <token>', {
    help: 'bootstrap token (qd token create); needed until the node has its certificate',
    parse: token,
  }),
  flag('--token-file <file>', { help: 'file with the bootstrap token, instead of --token', parse: value.file }),
  flag('--ca-file <file>', { help: 'certificate authority of the cluster', parse: value.file, remembered: true }),
  flag('--ca-hash <hash>', {
    help: "hash of the key of the cluster's authority, instead of --ca-file",
    remembered: true,
  }),
  flag('--node-name <name>', {
    help: 'name of the node',
    parse: value.nodeName,
    default: machineName(),
    defaultText: 'the name of this machine',
    remembered: true,
  }),
  flag('--data-dir <dir>', {
    help: 'where the node keeps its certificate and its pods',
    parse: value.file,
    default: join(homedir(), '.quarterdeck', 'agent'),
    defaultText: '~/.quarterdeck/agent',
  }),
  flag('--runtime <runtime>', {
    help: 'what runs pods; auto: containerd where it is installed and this is root, else process',
    choices: ['auto', 'containerd', 'process'],
    default: 'auto',
    remembered: true,
  }),
  flag('--node-address <address>', {
    help: 'address of the node',
    defaultText: 'the first one that is not loopback',
    remembered: true,
  }),
  flag('--cluster-dns <addresses>', {
    help: 'addresses for the resolv.conf of pods, separated by commas; "" for the default',
    parse: (text) => (text === '' ? [] : value.list(text)),
    defaultText: 'that of the Service kube-dns',
    remembered: true,
  }),
  flag('--cluster-domain <domain>', {
    help: 'domain of the names of services and pods, as the cluster has it',
    parse: value.domain,
    default: 'cluster.local',
    remembered: true,
  }),
  ...nodeFlags,
  remoteUpgradesFlag,
  flag('--detach', { help: 'run in the background, with the log in DIR/qd.log; returns when the node is ready' }),
] as const;

export type AgentFlags = ValuesOf<typeof agentFlags>;

/** Values from the command line: those of remembered flags are absent unless they are given. */
export type GivenAgentFlags = Partial<AgentFlags> & Pick<AgentFlags, 'dataDir'>;

function oneServer(text: string, previous?: string): string {
  if (previous !== undefined) throw new FlagError('It may be given only once.');
  return value.serverUrl(text);
}
