/** What a pod consists of and how it is to run: in a Pod, and in every template that makes pods. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { Container, EphemeralContainer } from '../container/container.ts';
import { containerRules } from '../container/container-rules.ts';
import { Overhead, PodResources } from '../container/resources.ts';
import { PodSecurityContext } from '../container/security-context.ts';
import { ipProblems } from '../meta/ip-address.ts';
import { labels } from '../meta/label-selector.ts';
import { LocalObjectReference } from '../meta/references.ts';
import { Volumes } from '../volume/volume.ts';
import { Affinity } from './affinity.ts';
import { PodDNSConfig } from './dns-config.ts';
import { podRules } from './pod-rules.ts';
import { PodResourceClaims } from './resource-claims.ts';
import { Toleration } from './toleration.ts';
import { TopologySpreadConstraints } from './topology-spread.ts';

const flag = (description: string) => s.boolean({ omitZero: true, description });

const HostAlias = s.object(
  'HostAlias',
  { ip: s.string({ zero: true }), hostnames: s.list(s.string({ rules: [matches(dnsSubdomain)] })) },
  { rules: [({ ip }: { ip: string }) => ipProblems(ip).map((complaint) => invalid('ip', ip, complaint))] },
);

const PodReadinessGate = s.object(
  'PodReadinessGate',
  {
    conditionType: s.string({ zero: true }),
  },
  {
    rules: [
      ({ conditionType: type }: { conditionType: string }) =>
        qualifiedName(type).map((complaint) => invalid('conditionType', type, complaint)),
    ],
  },
);

const PodSchedulingGates = s.listMap(s.object('PodSchedulingGate', { name: s.string({ zero: true }) }), {
  keys: ['name'],
  description: 'While there is one, the scheduler leaves the pod alone. They can only be taken away.',
  rules: [gates],
});

const PodOS = s.object('PodOS', { name: s.string({ zero: true }) }, { rules: [knownOS] });

const PodSchedulingGroup = s.object('PodSchedulingGroup', { podGroupName: s.string() }, { rules: [group] });

const spec = {
  volumes: Volumes,
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
    min: 0,
    default: 30,
    description: 'How long the containers have to end by themselves; 0 ends them at once.',
  }),
  activeDeadlineSeconds: s.int64({
    min: 1,
    max: 2 ** 31 - 1,
    description: 'How long the pod may be active before it is failed.',
  }),
  dnsPolicy: s.enum(['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], {
    default: 'ClusterFirst',
    description: 'Whose name servers the containers ask: those of the cluster, or those of the node.',
  }),
  nodeSelector: s.map(s.string(), { atomic: true, description: 'Labels that the node must have.', rules: [labels] }),
  serviceAccountName: s.string({
    default: ({ serviceAccount }: { serviceAccount?: string }) => serviceAccount || undefined,
    description: 'The service account the pod acts as.',
    rules: [matches(dnsSubdomain)],
  }),
  serviceAccount: s.string({
    derive: ({ serviceAccountName }: { serviceAccountName?: string }) => serviceAccountName,
    description: 'The old name of serviceAccountName; the two are kept the same.',
  }),
  automountServiceAccountToken: s.boolean({ description: 'Whether the token of the service account is mounted.' }),
  nodeName: s.string({
    omitZero: true,
    description: 'The node that runs the pod; set at once, it passes the scheduler by.',
    rules: [matches(dnsSubdomain)],
  }),
  hostNetwork: flag("Shares the node's network."),
  hostPID: flag("Shares the node's processes."),
  hostIPC: flag("Shares the node's inter-process communication."),
  shareProcessNamespace: s.boolean({ description: 'The containers see the processes of each other.' }),
  securityContext: s.use(PodSecurityContext, { default: {}, description: 'With which rights the containers run.' }),
  imagePullSecrets: s.listMap(LocalObjectReference, {
    keys: ['name'],
    description: 'Secrets with which images are fetched.',
  }),
  hostname: s.string({
    omitZero: true,
    description: "What the pod calls itself; where absent, the pod's name.",
    rules: [matches(dnsLabel)],
  }),
  subdomain: s.string({
    omitZero: true,
    description: 'With it, the pod is also <hostname>.<subdomain>.<namespace>.svc.<cluster domain>.',
    rules: [matches(dnsLabel)],
  }),
  affinity: s.use(Affinity, { description: 'Where the pod wants to run.' }),
  schedulerName: s.string({ default: 'default-scheduler', description: 'The scheduler that picks its node.' }),
  tolerations: s.list(Toleration, { description: 'Taints of nodes that the pod accepts.' }),
  hostAliases: s.listMap(HostAlias, {
    keys: ['ip'],
    description: "Lines for the pod's hosts file; not for a pod on the node's network.",
  }),
  priorityClassName: s.string({ omitZero: true, rules: [matches(dnsSubdomain)] }),
  priority: s.int32(),
  dnsConfig: PodDNSConfig,
  readinessGates: s.list(PodReadinessGate),
  runtimeClassName: s.string({ rules: [matches(dnsSubdomain)] }),
  enableServiceLinks: s.boolean({ description: 'Whether services of the namespace become variables.' }),
  preemptionPolicy: s.enum(['PreemptLowerPriority', 'Never']),
  overhead: Overhead,
  topologySpreadConstraints: TopologySpreadConstraints,
  setHostnameAsFQDN: s.boolean(),
  os: PodOS,
  hostUsers: s.boolean(),
  schedulingGates: PodSchedulingGates,
  resourceClaims: PodResourceClaims,
  resources: PodResources,
  hostnameOverride: s.string({ rules: [matches(dnsSubdomain)] }),
  schedulingGroup: PodSchedulingGroup,
};
export type PodSpec = ObjectType<typeof spec>;

/** A write of the status leaves the spec as it was, so it is not checked again. */
export const PodSpec = s.object('PodSpec', spec, {
  rules: [
    (value: PodSpec, { subresource }: RuleContext) =>
      subresource === 'status' ? [] : [...containerRules(value), ...podRules(value)],
  ],
});

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
