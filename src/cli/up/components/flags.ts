import { FlagError, flag, type ValuesOf } from '../../../base/flag.ts';
import { nodeFlags } from '../../agent/node-flags.ts';
import * as value from '../../flags/values.ts';
import { runtimes } from './runtimes.ts';

const MAX_NODES = 50_000;

export const componentFlags = [
  flag('--controllers <list>', {
    help: 'controllers to run: * for all, NAME, or -NAME for all but that one; the scheduler is one of them',
    parse: value.list,
    default: ['*'] as readonly string[],
  }),
  flag('--runtime <runtime>', {
    help: 'what runs pods; auto: containerd where it is installed and this is root, else process',
    choices: ['auto', ...runtimes],
    default: 'auto',
    remembered: true,
  }),
  flag('--nodes <count>', {
    help: 'number of nodes; at most 32 unless they are simulated',
    parse: nodeCount,
    defaultText: '1; 0 with --store etcd, unless --runtime is given',
    remembered: true,
  }),
  flag('--node-name <name>', {
    help: 'name of the node that is not simulated; further ones have -2, -3 and so on behind it',
    parse: value.nodeName,
    defaultText: "the cluster's name and -node-1; with --store etcd, the name of this machine",
    remembered: true,
  }),
  flag('--simulation <file>', {
    help: 'rules for simulated nodes and their pods; "" for none',
    parse: value.optionalFile,
    remembered: true,
  }),
  flag('--cluster-cidr <cidr>', {
    help: 'addresses of pods',
    parse: value.serviceRange,
    defaultText: '10.244.0.0/16, or 10.128.0.0/9 for more than 256 nodes',
    remembered: true,
    isAgreed: true,
  }),
  flag('--cluster-domain <domain>', {
    help: 'domain of the names of services and pods',
    parse: value.domain,
    default: 'cluster.local',
    remembered: true,
    isAgreed: true,
  }),
  flag('--ingress [bool]', {
    help: 'run the built-in Ingress controller beside real pods',
    parse: value.boolean,
    defaultText: 'on',
    remembered: true,
  }),
  flag('--ingress-http-port <port>', {
    help: 'port of the Ingress controller for HTTP; 0 for any free one',
    parse: value.port,
    defaultText: '80, or any free one',
    remembered: true,
  }),
  flag('--ingress-https-port <port>', {
    help: 'port of the Ingress controller for HTTPS; 0 for any free one',
    parse: value.port,
    defaultText: '443, or any free one',
    remembered: true,
  }),
  flag('--ingress-share-hosts [bool]', {
    help: 'Ingresses of several namespaces may have rules for one host; off: a host belongs to the namespace of the oldest one',
    parse: value.boolean,
    defaultText: 'off',
    remembered: true,
  }),
  flag('--ingress-allow-external-names [bool]', {
    help: 'Services of the type ExternalName may be backends of Ingresses',
    parse: value.boolean,
    defaultText: 'off',
    remembered: true,
  }),
  flag('--volumes-dir <dir>', {
    help: 'directory in which nodes create the volumes of claims',
    parse: value.file,
    defaultText: 'DIR/volumes',
  }),
  ...nodeFlags,
] as const;

export type ComponentFlags = ValuesOf<typeof componentFlags>;

function nodeCount(text: string): number {
  const count = value.count(text);
  if (count > MAX_NODES) throw new FlagError(`It must be at most ${MAX_NODES}.`);
  return count;
}
