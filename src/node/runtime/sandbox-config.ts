/** Configuration of a sandbox: everything that the containers of a pod share. */
import type { QosClass } from '../../kinds/shapes/pod/qos-class.ts';
import type { ContainerResources, ContainerSecurity, IdMapping } from './container-config.ts';

export interface SandboxConfig {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Counts the sandboxes of the pod, from zero. */
  readonly attempt: number;
  readonly hostname: string;
  /** Where logs go: `NAME/ATTEMPT.log` of a container is relative to it. */
  readonly logDirectory: string;
  /** Contents of `/etc/resolv.conf`; undefined: the node's own. */
  readonly dns: DnsConfig | undefined;
  readonly ports: readonly PortMapping[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly namespaces: PodNamespaces;
  readonly sysctls: Readonly<Record<string, string>>;
  readonly security: SandboxSecurity;
  /** Decides where the cgroup of the pod is. */
  readonly qosClass: QosClass;
  /** The overhead of its RuntimeClass and the sum of its containers, where they have limits. */
  readonly overhead: ContainerResources | undefined;
  readonly resources: ContainerResources | undefined;
  /** Limits of the pod as a whole, on a cgroup around all its containers, where the runtime makes one. */
  readonly cgroupResources: ContainerResources | undefined;
  /** The handler of its RuntimeClass; empty: the default one. */
  readonly runtimeHandler: string;
}

export interface DnsConfig {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface PortMapping {
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  readonly containerPort: number;
  readonly hostPort: number;
  readonly hostIP: string | undefined;
}

export interface PodNamespaces {
  readonly network: 'pod' | 'node';
  /** `pod`: the containers share one. */
  readonly pid: 'container' | 'pod' | 'node';
  readonly ipc: 'pod' | 'node';
  /** Maps the ids of a user namespace of its own; undefined: the node's. */
  readonly user: readonly IdMapping[] | undefined;
}

export type SandboxSecurity = Pick<
  ContainerSecurity,
  'privileged' | 'runAsUser' | 'runAsGroup' | 'supplementalGroups' | 'seccomp' | 'selinux'
>;
