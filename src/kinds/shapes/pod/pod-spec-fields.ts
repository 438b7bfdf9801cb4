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

const flag = (description: string) => s.boolean(description, { omitZero: true });

const HostAlias = s.object(
  'HostAlias',
  'An IP address and its host names, as a line of the hosts file of the pod.',
  {
    ip: s.string('IP address of the hosts file entry.', { zero: true }),
    hostnames: s.list(s.string({ rules: [matches(dnsSubdomain)] }), 'Host names for the address.'),
  },
  { rules: [({ ip }: { ip: string }) => ipProblems(ip).map((complaint) => invalid('ip', ip, complaint))] },
);

const PodReadinessGate = s.object(
  'PodReadinessGate',
  'A condition that counts towards the readiness of the pod.',
  {
    conditionType: s.string('Type of the pod condition that must be True.', { zero: true }),
  },
  {
    rules: [
      ({ conditionType: type }: { conditionType: string }) =>
        qualifiedName(type).map((complaint) => invalid('conditionType', type, complaint)),
    ],
  },
);

const PodSchedulingGates = s.listMap(
  s.object('PodSchedulingGate', 'A gate that keeps a pod from being scheduled.', {
    name: s.string('Name of the gate, such as example.com/quota. Unique within the pod.', { zero: true }),
  }),
  'Gates that keep the pod from being scheduled while the list is not empty. Set on creation; after that ' +
    'gates can only be removed.',
  { keys: ['name'], rules: [gates] },
);

const PodOS = s.object(
  'PodOS',
  'Operating system of a pod.',
  { name: s.string('Operating system: linux or windows. Required.', { zero: true }) },
  { rules: [knownOS] },
);

const PodSchedulingGroup = s.object(
  'PodSchedulingGroup',
  'Group of pods that are scheduled together.',
  { podGroupName: s.string('PodGroup in the namespace of the pod that it belongs to.') },
  { rules: [group] },
);

/** Maximum number of containers, more than any machine runs. All work on a pod takes time for each of them. */
const MAX_CONTAINERS = 2_000;

export const podSpecFields = {
  volumes: Volumes,
  initContainers: s.listMap(
    Container,
    'Containers that run to completion one after the other before the others start. Those with restartPolicy ' +
      'Always keep running as sidecars; only they can have probes and lifecycle actions.',
    { keys: ['name'], maxItems: MAX_CONTAINERS },
  ),
  containers: s.listMap(Container, 'Containers of the pod, at least one. They cannot be added or removed later.', {
    keys: ['name'],
    maxItems: MAX_CONTAINERS,
    required: true,
  }),
  ephemeralContainers: s.listMap(
    EphemeralContainer,
    'Containers added to the running pod for debugging. Not allowed on creation; they are added through the ' +
      'ephemeralcontainers subresource and cannot be removed.',
    { keys: ['name'], maxItems: MAX_CONTAINERS },
  ),
  restartPolicy: s.enum(
    ['Always', 'OnFailure', 'Never'],
    'When containers are restarted after they have exited: Always, OnFailure (exit code other than 0) or ' +
      'Never. Defaults to Always.',
    { default: 'Always' },
  ),
  terminationGracePeriodSeconds: s.int64(
    'Seconds between the signal to stop and the kill when the pod is deleted; 0 kills it at once. Defaults ' + 'to 30.',
    { min: 0, default: 30 },
  ),
  activeDeadlineSeconds: s.int64(
    'Seconds after the start of the pod after which it is stopped and marked as failed. It can be added or ' +
      'shortened later.',
    { min: 1, max: 2 ** 31 - 1 },
  ),
  dnsPolicy: s.enum(
    ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
    'Source of the DNS settings. ClusterFirst: the DNS of the cluster, but that of the node for pods with ' +
      'hostNetwork. ClusterFirstWithHostNet: the DNS of the cluster in either case. Default: that of the node. ' +
      'None: only dnsConfig. Defaults to ClusterFirst.',
    { default: 'ClusterFirst' },
  ),
  nodeSelector: s.map(
    s.string(),
    'Labels that a node must have, with these values, for the pod to be scheduled to it.',
    { atomic: true, rules: [labels] },
  ),
  serviceAccountName: s.string(
    'ServiceAccount whose identity the pod uses with the API. Defaults to the service account named default.',
    {
      default: ({ serviceAccount }: { serviceAccount?: string }) => serviceAccount || undefined,
      rules: [matches(dnsSubdomain)],
    },
  ),
  serviceAccount: s.string('Deprecated name of serviceAccountName; the server keeps both equal.', {
    derive: ({ serviceAccountName }: { serviceAccountName?: string }) => serviceAccountName,
  }),
  automountServiceAccountToken: s.boolean(
    'Whether a token of the service account is mounted into the containers. Defaults to the setting of the ' +
      'service account, then to true.',
  ),
  nodeName: s.string(
    'Node that the pod is assigned to. Set by the scheduler; if set on creation, the pod is not scheduled ' +
      'and runs on that node.',
    { omitZero: true, rules: [matches(dnsSubdomain)] },
  ),
  hostNetwork: flag("Uses the network of the node: the node's addresses and ports. Defaults to false."),
  hostPID: flag('Uses the process namespace of the node. Defaults to false.'),
  hostIPC: flag('Uses the IPC namespace of the node. Defaults to false.'),
  shareProcessNamespace: s.boolean(
    "Lets the containers see and signal each other's processes. Cannot be combined with hostPID. Defaults to " +
      'false.',
  ),
  securityContext: s.use(PodSecurityContext, 'Security settings of the pod and defaults for its containers.', {
    default: {},
    pointer: true,
  }),
  imagePullSecrets: s.listMap(
    LocalObjectReference,
    'Secrets in the namespace of the pod with credentials for pulling its images. Defaults to those of the ' +
      'service account.',
    { keys: ['name'] },
  ),
  hostname: s.string('Host name of the pod, a DNS label. Defaults to the name of the pod.', {
    omitZero: true,
    rules: [matches(dnsLabel)],
  }),
  subdomain: s.string(
    'With it, the fully qualified name of the pod is <hostname>.<subdomain>.<namespace>.svc.<cluster ' +
      'domain>. It resolves if there is a headless service of that name.',
    { omitZero: true, rules: [matches(dnsLabel)] },
  ),
  affinity: Affinity,
  schedulerName: s.string('Scheduler that assigns the pod to a node. Defaults to default-scheduler.', {
    default: 'default-scheduler',
  }),
  tolerations: s.list(Toleration, 'Node taints that the pod tolerates. More can be added later.'),
  hostAliases: s.listMap(HostAlias, 'Additional lines of the hosts file of the pod. Not allowed with hostNetwork.', {
    keys: ['ip'],
  }),
  priorityClassName: s.string(
    'PriorityClass of the pod. Defaults to the one marked as global default, if there is one.',
    { omitZero: true, rules: [matches(dnsSubdomain)] },
  ),
  priority: s.int32(
    'Priority of the pod: higher values are scheduled first and can preempt lower ones. Set by the server ' +
      'from priorityClassName.',
  ),
  dnsConfig: s.use(
    PodDNSConfig,
    'DNS settings of the pod, merged with those of dnsPolicy. Required if dnsPolicy is None.',
  ),
  readinessGates: s.list(PodReadinessGate, 'Additional conditions that must be True before the pod is ready.'),
  runtimeClassName: s.string('RuntimeClass that the pod runs with. Defaults to the default runtime of the node.', {
    rules: [matches(dnsSubdomain)],
  }),
  enableServiceLinks: s.boolean(
    'Whether services of the namespace are available to the containers as environment variables. Defaults to ' +
      'true.',
  ),
  preemptionPolicy: s.enum(
    ['PreemptLowerPriority', 'Never'],
    'Whether the pod may preempt pods of lower priority: PreemptLowerPriority or Never. Set by the server ' +
      'from priorityClassName.',
  ),
  overhead: s.use(
    Overhead,
    'Resources that running the pod takes besides those of its containers. Set by the server from the ' +
      'RuntimeClass.',
  ),
  topologySpreadConstraints: TopologySpreadConstraints,
  setHostnameAsFQDN: s.boolean(
    'Whether the host name is the fully qualified name of the pod instead of its short name. Defaults to ' + 'false.',
  ),
  os: s.use(PodOS, 'Operating system of the containers. Fields for the other operating system are then not allowed.'),
  hostUsers: s.boolean(
    'Whether the pod uses the user namespace of the node. If false, user 0 in the pod is an unprivileged ' +
      'user on the node. Defaults to true.',
  ),
  schedulingGates: PodSchedulingGates,
  resourceClaims: PodResourceClaims,
  resources: s.use(
    PodResources,
    'Requests and limits of cpu, memory and huge pages of the pod as a whole, shared by its containers.',
  ),
  hostnameOverride: s.string(
    'Host name of the pod, overriding hostname and subdomain, of at most 64 characters. Not allowed with ' +
      'hostNetwork or setHostnameAsFQDN.',
    { rules: [matches(dnsSubdomain)] },
  ),
  schedulingGroup: s.use(PodSchedulingGroup, 'Group that the pod is scheduled together with. Cannot be changed.'),
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
