/** The flags of `qd up` and `qd agent` that describe their nodes with real pods. */
import { flag, type ValuesOf } from '../../base/flag.ts';
import { ROUTE_MODES } from '../../network/routes/routing-of.ts';
import * as value from '../flags/values.ts';
import * as nodeValue from './node-values.ts';

export const nodeFlags = [
  flag('--container-runtime-endpoint <socket>', {
    help: 'CRI socket of containerd; "" for none',
    defaultText: "that of the machine's containerd, or one that qd runs",
    remembered: true,
  }),
  flag('--registry-mirror <registry=url>', {
    help: 'URL that is asked for images before a registry; may be repeated; "" for none',
    parse: nodeValue.mirrors,
    remembered: true,
  }),
  flag('--insecure-registry <registry>', {
    help: 'registry whose certificate is not verified, and that may do without TLS; may be repeated; "" for none',
    parse: nodeValue.registries,
    remembered: true,
  }),
  flag('--allowed-dial-ranges <ranges>', {
    help: 'addresses and ranges that webhooks, proxies, Ingresses, probes and images may lead to though they are loopback, link-local or of this machine; "" for none',
    parse: value.addressRanges,
    defaultText: 'none',
    remembered: true,
  }),
  flag('--node-labels <labels>', {
    help: 'labels of the nodes besides those that every node has: disk=ssd,zone=a',
    parse: nodeValue.labels,
    remembered: true,
  }),
  flag('--register-with-taints <taints>', {
    help: 'taints that the nodes register with: gpu=true:NoSchedule,old:PreferNoSchedule',
    parse: nodeValue.taints,
    remembered: true,
  }),
  flag('--max-pods <count>', {
    help: 'number of pods that a node runs',
    parse: value.positiveCount,
    defaultText: '110',
    remembered: true,
  }),
  flag('--pod-max-pids <count>', {
    help: 'number of processes and threads that a pod may have; -1 for no limit',
    parse: nodeValue.pidsLimit,
    defaultText: '4096',
    remembered: true,
  }),
  flag('--allow-host-image [bool]', {
    help: 'pods may use the image "host", which is the file system of the node',
    parse: value.boolean,
    defaultText: 'on for a cluster that is private to its user, off with qd agent',
    remembered: true,
  }),
  flag('--system-reserved <resources>', {
    help: 'what pods leave for the system: cpu=500m,memory=1Gi,ephemeral-storage=1Gi',
    parse: nodeValue.resources,
    remembered: true,
  }),
  flag('--kube-reserved <resources>', {
    help: 'what pods leave for the agent and its runtime, besides that',
    parse: nodeValue.resources,
    remembered: true,
  }),
  flag('--eviction-hard <thresholds>', {
    help: 'what must be left before pods are evicted; replaces the default as a whole',
    parse: nodeValue.thresholds,
    defaultText:
      'memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%',
    remembered: true,
  }),
  flag('--allowed-unsafe-sysctls <list>', {
    help: 'kernel parameters that pods may set although they are not safe; * at the end of a name for all below',
    parse: nodeValue.sysctls,
    remembered: true,
  }),
  flag('--pod-manifest-path <dir>', {
    help: 'directory with the manifests of static pods; "" for none',
    parse: value.optionalFile,
    remembered: true,
  }),
  flag('--live-config-volumes [bool]', {
    help: 'changed ConfigMaps and Secrets reach the volumes of running pods',
    parse: value.boolean,
    defaultText: 'off',
    remembered: true,
  }),
  flag('--pod-routes <mode>', {
    help: 'how pods of other machines are reached; auto: direct on a shared link, else vxlan (UDP port 4789)',
    choices: ROUTE_MODES,
    defaultText: 'auto',
    remembered: true,
  }),
] as const;

export type NodeFlags = ValuesOf<typeof nodeFlags>;
