/** The fields of a pod spec. The rules across them are added in pod-spec.ts. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { Container, EphemeralContainer } from '../container/container.ts';
import { Overhead, PodResources } from '../container/resources.ts';
import { PodSecurityContext } from '../container/security-context.ts';
import { ipProblems } from '../meta/addresses/ip-address.ts';
import { labels } from '../meta/label-selector.ts';
import { LocalObjectReference } from '../meta/references.ts';
import { Volumes } from '../volume/volume.ts';
import { PodDNSConfig } from './dns-config.ts';
import { PodResourceClaims } from './resource-claims.ts';
import { Affinity } from './scheduling/affinity.ts';
import { Toleration } from './scheduling/toleration.ts';
import { TopologySpreadConstraints } from './scheduling/topology-spread.ts';

const flag = (description: string) => s.boolean({ omitZero: true, description });

const HostAlias = s.object(
  'HostAlias',
  {
    ip: s.string({ zero: true, description: 'IP address of the hosts file entry.' }),
    hostnames: s.list(s.string({ rules: [matches(dnsSubdomain)] }), { description: 'Host names for the address.' }),
  },
  {
    description: 'An IP address and its host names, as a line of the hosts file of the pod.',
    rules: [({ ip }: { ip: string }) => ipProblems(ip).map((complaint) => invalid('ip', ip, complaint))],
  },
);

const PodReadinessGate = s.object(
  'PodReadinessGate',
  {
    conditionType: s.string({ zero: true, description: 'Type of the pod condition that must be True.' }),
  },
  {
    description: 'A condition that counts towards the readiness of the pod.',
    rules: [
      ({ conditionType: type }: { conditionType: string }) =>
        qualifiedName(type).map((complaint) => invalid('conditionType', type, complaint)),
    ],
  },
);

const PodSchedulingGates = s.listMap(
  s.object(
    'PodSchedulingGate',
    {
      name: s.string({
        zero: true,
        description: 'Name of the gate, such as example.com/quota. Unique within the pod.',
      }),
    },
    { description: 'A gate that keeps a pod from being scheduled.' },
  ),
  {
    keys: ['name'],
    description:
      'Gates that keep the pod from being scheduled while the list is not empty. Set on creation; after that ' +
      'gates can only be removed.',
    rules: [gates],
  },
);

const PodOS = s.object(
  'PodOS',
  { name: s.string({ zero: true, description: 'Operating system: linux or windows. Required.' }) },
  { description: 'Operating system of a pod.', rules: [knownOS] },
);

const PodSchedulingGroup = s.object(
  'PodSchedulingGroup',
  { podGroupName: s.string({ description: 'PodGroup in the namespace of the pod that it belongs to.' }) },
  { description: 'Group of pods that are scheduled together.', rules: [group] },
);

/** Maximum number of containers, more than any machine runs. All work on a pod takes time for each of them. */
const MAX_CONTAINERS = 2_000;

export const podSpecFields = {
  volumes: Volumes,
  initContainers: s.listMap(Container, {
    keys: ['name'],
    maxItems: MAX_CONTAINERS,
    description:
      'Containers that run to completion one after the other before the others start. Those with restartPolicy ' +
      'Always keep running as sidecars; only they can have probes and lifecycle actions.',
  }),
  containers: s.listMap(Container, {
    keys: ['name'],
    maxItems: MAX_CONTAINERS,
    required: true,
    description: 'Containers of the pod, at least one. They cannot be added or removed later.',
  }),
  ephemeralContainers: s.listMap(EphemeralContainer, {
    keys: ['name'],
    maxItems: MAX_CONTAINERS,
    description:
      'Containers added to the running pod for debugging. Not allowed on creation; they are added through the ' +
      'ephemeralcontainers subresource and cannot be removed.',
  }),
  restartPolicy: s.enum(['Always', 'OnFailure', 'Never'], {
    default: 'Always',
    description:
      'When containers are restarted after they have exited: Always, OnFailure (exit code other than 0) or ' +
      'Never. Defaults to Always.',
  }),
  terminationGracePeriodSeconds: s.int64({
    min: 0,
    default: 30,
    description:
      'Seconds between the signal to stop and the kill when the pod is deleted; 0 kills it at once. Defaults ' +
      'to 30.',
  }),
  activeDeadlineSeconds: s.int64({
    min: 1,
    max: 2 ** 31 - 1,
    description:
      'Seconds after the start of the pod after which it is stopped and marked as failed. It can be added or ' +
      'shortened later.',
  }),
  dnsPolicy: s.enum(['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], {
    default: 'ClusterFirst',
    description:
      'Source of the DNS settings. ClusterFirst: the DNS of the cluster, but that of the node for pods with ' +
      'hostNetwork. ClusterFirstWithHostNet: the DNS of the cluster in either case. Default: that of the node. ' +
      'None: only dnsConfig. Defaults to ClusterFirst.',
  }),
  nodeSelector: s.map(s.string(), {
    atomic: true,
    description: 'Labels that a node must have, with these values, for the pod to be scheduled to it.',
    rules: [labels],
  }),
  serviceAccountName: s.string({
    default: ({ serviceAccount }: { serviceAccount?: string }) => serviceAccount || undefined,
    description:
      'ServiceAccount whose identity the pod uses with the API. Defaults to the service account named default.',
    rules: [matches(dnsSubdomain)],
  }),
  serviceAccount: s.string({
    derive: ({ serviceAccountName }: { serviceAccountName?: string }) => serviceAccountName,
    description: 'Deprecated name of serviceAccountName; the server keeps both equal.',
  }),
  automountServiceAccountToken: s.boolean({
    description:
      'Whether a token of the service account is mounted into the containers. Defaults to the setting of the ' +
      'service account, then to true.',
  }),
  nodeName: s.string({
    omitZero: true,
    description:
      'Node that the pod is assigned to. Set by the scheduler; if set on creation, the pod is not scheduled ' +
      'and runs on that node.',
    rules: [matches(dnsSubdomain)],
  }),
  hostNetwork: flag("Uses the network of the node: the node's addresses and ports. Defaults to false."),
  hostPID: flag('Uses the process namespace of the node. Defaults to false.'),
  hostIPC: flag('Uses the IPC namespace of the node. Defaults to false.'),
  shareProcessNamespace: s.boolean({
    description:
      "Lets the containers see and signal each other's processes. Cannot be combined with hostPID. Defaults to " +
      'false.',
  }),
  securityContext: s.use(PodSecurityContext, {
    default: {},
    pointer: true,
    description: 'Security settings of the pod and defaults for its containers.',
  }),
  imagePullSecrets: s.listMap(LocalObjectReference, {
    keys: ['name'],
    description:
      'Secrets in the namespace of the pod with credentials for pulling its images. Defaults to those of the ' +
      'service account.',
  }),
  hostname: s.string({
    omitZero: true,
    description: 'Host name of the pod, a DNS label. Defaults to the name of the pod.',
    rules: [matches(dnsLabel)],
  }),
  subdomain: s.string({
    omitZero: true,
    description:
      'With it, the fully qualified name of the pod is <hostname>.<subdomain>.<namespace>.svc.<cluster ' +
      'domain>. It resolves if there is a headless service of that name.',
    rules: [matches(dnsLabel)],
  }),
  affinity: Affinity,
  schedulerName: s.string({
    default: 'default-scheduler',
    description: 'Scheduler that assigns the pod to a node. Defaults to default-scheduler.',
  }),
  tolerations: s.list(Toleration, { description: 'Node taints that the pod tolerates. More can be added later.' }),
  hostAliases: s.listMap(HostAlias, {
    keys: ['ip'],
    description: 'Additional lines of the hosts file of the pod. Not allowed with hostNetwork.',
  }),
  priorityClassName: s.string({
    omitZero: true,
    description: 'PriorityClass of the pod. Defaults to the one marked as global default, if there is one.',
    rules: [matches(dnsSubdomain)],
  }),
  priority: s.int32({
    description:
      'Priority of the pod: higher values are scheduled first and can preempt lower ones. Set by the server ' +
      'from priorityClassName.',
  }),
  dnsConfig: s.use(PodDNSConfig, {
    description: 'DNS settings of the pod, merged with those of dnsPolicy. Required if dnsPolicy is None.',
  }),
  readinessGates: s.list(PodReadinessGate, {
    description: 'Additional conditions that must be True before the pod is ready.',
  }),
  runtimeClassName: s.string({
    description: 'RuntimeClass that the pod runs with. Defaults to the default runtime of the node.',
    rules: [matches(dnsSubdomain)],
  }),
  enableServiceLinks: s.boolean({
    description:
      'Whether services of the namespace are available to the containers as environment variables. Defaults to ' +
      'true.',
  }),
  preemptionPolicy: s.enum(['PreemptLowerPriority', 'Never'], {
    description:
      'Whether the pod may preempt pods of lower priority: PreemptLowerPriority or Never. Set by the server ' +
      'from priorityClassName.',
  }),
  overhead: s.use(Overhead, {
    description:
      'Resources that running the pod takes besides those of its containers. Set by the server from the ' +
      'RuntimeClass.',
  }),
  topologySpreadConstraints: TopologySpreadConstraints,
  setHostnameAsFQDN: s.boolean({
    description:
      'Whether the host name is the fully qualified name of the pod instead of its short name. Defaults to ' + 'false.',
  }),
  os: s.use(PodOS, {
    description: 'Operating system of the containers. Fields for the other operating system are then not allowed.',
  }),
  hostUsers: s.boolean({
    description:
      'Whether the pod uses the user namespace of the node. If false, user 0 in the pod is an unprivileged ' +
      'user on the node. Defaults to true.',
  }),
  schedulingGates: PodSchedulingGates,
  resourceClaims: PodResourceClaims,
  resources: s.use(PodResources, {
    description: 'Requests and limits of cpu, memory and huge pages of the pod as a whole, shared by its containers.',
  }),
  hostnameOverride: s.string({
    description:
      'Host name of the pod, overriding hostname and subdomain, of at most 64 characters. Not allowed with ' +
      'hostNetwork or setHostnameAsFQDN.',
    rules: [matches(dnsSubdomain)],
  }),
  schedulingGroup: s.use(PodSchedulingGroup, {
    description: 'Group that the pod is scheduled together with. Cannot be changed.',
  }),
};
export type PodSpecFields = ObjectType<typeof podSpecFields>;

function gates(list: readonly { name: string }[]): FieldError[] {
  const seen = new Set<string>();
  return list.flatMap(({ name }, index) => {
    const found = qualifiedName(name).map((complaint) => invalid(`[${index}]`, name, complaint));
    if (seen.has(name)) found.push(duplicate(`[${index}]`, name));
    seen.add(name);
    return found;
  });
}

function knownOS({ name }: { name: string }): FieldError | undefined {
  if (!name) return required('name');
  return name === 'linux' || name === 'windows' ? undefined : notSupported('', name, ['linux', 'windows']);
}

function group({ podGroupName: name }: { podGroupName?: string }): FieldError[] {
  if (name === undefined) return [invalid('podGroupName', null, 'must specify one of: `podGroupName`')];
  return dnsSubdomain(name).map((complaint) => invalid('podGroupName', name, complaint));
}
