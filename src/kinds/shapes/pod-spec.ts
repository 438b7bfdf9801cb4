/** What a pod consists of and how it is to run: in a Pod, and in every template that makes pods. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
import { Affinity } from './affinity.ts';
import { Container, EphemeralContainer } from './container.ts';
import { PodDNSConfig } from './dns-config.ts';
import { LocalObjectReference } from './references.ts';
import { ResourceList, ResourceRequirements } from './resources.ts';
import { PodSecurityContext } from './security-context.ts';
import { Toleration } from './toleration.ts';
import { TopologySpreadConstraint } from './topology-spread.ts';
import { Volume } from './volume.ts';

const HostAlias = s.object('HostAlias', {
  ip: s.string({ zero: true }),
  hostnames: s.list(s.string()),
});

const PodResourceClaim = s.object('PodResourceClaim', {
  name: s.string({ zero: true }),
  resourceClaimName: s.string(),
  resourceClaimTemplateName: s.string(),
});
export type PodResourceClaim = TypeOf<typeof PodResourceClaim>;

export const PodSpec = s.object('PodSpec', {
  volumes: s.listMap(Volume, {
    keys: ['name'],
    retainKeys: true,
    description: 'Storage that the containers can mount.',
  }),
  initContainers: s.listMap(Container, {
    keys: ['name'],
    description: 'Run one after the other before the containers start; they have no lifecycle actions and no probes.',
  }),
  containers: s.listMap(Container, {
    keys: ['name'],
    required: true,
    description: 'At least one; none can be added or removed later.',
  }),
  ephemeralContainers: s.listMap(EphemeralContainer, { keys: ['name'] }),
  restartPolicy: s.enum(['Always', 'OnFailure', 'Never'], {
    default: 'Always',
    description: 'When the containers are started again after they ended.',
  }),
  terminationGracePeriodSeconds: s.int64({
    default: 30,
    description: 'How long the containers have to end by themselves; 0 ends them at once.',
  }),
  activeDeadlineSeconds: s.int64({ description: 'How long the pod may be active before it is failed; at least 1.' }),
  dnsPolicy: s.enum(['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], {
    default: 'ClusterFirst',
    description: 'Whose name servers the containers ask: those of the cluster, or those of the node.',
  }),
  nodeSelector: s.map(s.string(), { atomic: true, description: 'Labels that the node must have.' }),
  serviceAccountName: s.string({ description: 'The service account the pod acts as.' }),
  serviceAccount: s.string({ description: 'The old name of serviceAccountName; the two are kept the same.' }),
  automountServiceAccountToken: s.boolean({ description: 'Whether the token of the service account is mounted.' }),
  nodeName: s.string({ description: 'The node that runs the pod; set, it passes the scheduler by.' }),
  hostNetwork: s.boolean({ description: "Shares the node's network." }),
  hostPID: s.boolean({ description: "Shares the node's processes." }),
  hostIPC: s.boolean({ description: "Shares the node's inter-process communication." }),
  shareProcessNamespace: s.boolean(),
  securityContext: s.use(PodSecurityContext, { default: {}, description: 'With which rights the containers run.' }),
  imagePullSecrets: s.listMap(LocalObjectReference, {
    keys: ['name'],
    description: 'Secrets with which images are fetched.',
  }),
  hostname: s.string({ description: "What the pod calls itself; where absent, the pod's name." }),
  subdomain: s.string({ description: 'With it, the pod is also <hostname>.<subdomain>.<namespace>.svc.<domain>.' }),
  affinity: s.use(Affinity, { description: 'Where the pod wants to run.' }),
  schedulerName: s.string({ default: 'default-scheduler', description: 'The scheduler that picks its node.' }),
  tolerations: s.list(Toleration, { description: 'Taints of nodes that the pod accepts.' }),
  hostAliases: s.listMap(HostAlias, {
    keys: ['ip'],
    description: "Lines for the pod's hosts file; not for a pod on the node's network.",
  }),
  priorityClassName: s.string(),
  priority: s.int32(),
  dnsConfig: PodDNSConfig,
  readinessGates: s.list(s.object('PodReadinessGate', { conditionType: s.string({ zero: true }) })),
  runtimeClassName: s.string(),
  enableServiceLinks: s.boolean(),
  preemptionPolicy: s.string(),
  overhead: ResourceList,
  topologySpreadConstraints: s.listMap(TopologySpreadConstraint, { keys: ['topologyKey', 'whenUnsatisfiable'] }),
  setHostnameAsFQDN: s.boolean(),
  os: s.object('PodOS', { name: s.string({ zero: true }) }),
  hostUsers: s.boolean(),
  schedulingGates: s.listMap(s.object('PodSchedulingGate', { name: s.string({ zero: true }) }), { keys: ['name'] }),
  resourceClaims: s.listMap(PodResourceClaim, { keys: ['name'], retainKeys: true }),
  resources: ResourceRequirements,
  hostnameOverride: s.string(),
  schedulingGroup: s.object('PodSchedulingGroup', { podGroupName: s.string() }),
});
export type PodSpec = TypeOf<typeof PodSpec>;
