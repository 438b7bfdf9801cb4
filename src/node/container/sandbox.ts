/** The configuration of a pod's sandbox. */
import { join } from 'node:path';
import type { PodSpec } from '../../kinds/shapes/pod/pod-spec.ts';
import { qosClass } from '../../kinds/shapes/pod/qos-class.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { IdMapping } from '../runtime/container-config.ts';
import type { PortMapping, SandboxConfig } from '../runtime/sandbox-config.ts';
import type { ConfigEvent } from './environment.ts';
import { sandboxAnnotations, sandboxLabels } from './labels.ts';
import { type DnsOptions, dnsOf } from './names/dns.ts';
import { kernelHostname } from './names/hostname.ts';
import { overheadResources, podCgroupResources, sandboxResources } from './resources.ts';
import { podPidNamespace, sandboxSecurity } from './security/security.ts';
import { sysctlsOf } from './security/sysctls.ts';

export interface SandboxOptions {
  readonly attempt: number;
  /** The directory that holds the log directories of all pods. */
  readonly logRoot: string;
  readonly dns: DnsOptions;
  /** The handler of the pod's RuntimeClass; empty without one. */
  readonly runtimeHandler: string;
  /** For `hostUsers: false`; undefined: the pod uses the node's user namespace. */
  readonly idMappings: readonly IdMapping[] | undefined;
  /** Maximum number of processes and threads of the pod; undefined: no limit. */
  readonly podPidsLimit: number | undefined;
}

/** Throws a ContainerConfigError when the pod cannot have a sandbox, for example because its full name is too long. */
export function sandboxConfigOf(
  pod: SeenPod,
  options: SandboxOptions,
): { config: SandboxConfig; events: readonly ConfigEvent[] } {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const { dns, events } = dnsOf(pod, options.dns);
  const config: SandboxConfig = {
    pod: { namespace, name, uid },
    attempt: options.attempt,
    hostname: kernelHostname(pod, options.dns.clusterDomain),
    logDirectory: podLogDirectory(options.logRoot, { namespace, name, uid }),
    dns,
    ports: hostPorts(pod),
    labels: sandboxLabels(pod),
    annotations: sandboxAnnotations(pod),
    namespaces: {
      network: pod.spec.hostNetwork ? 'node' : 'pod',
      pid: podPidNamespace(pod),
      ipc: pod.spec.hostIPC ? 'node' : 'pod',
      user: options.idMappings,
    },
    sysctls: sysctlsOf(pod),
    security: sandboxSecurity(pod),
    qosClass: qosClass(pod.spec as PodSpec),
    overhead: overheadResources(pod),
    resources: sandboxResources(pod),
    cgroupResources: podCgroupResources(pod, options.podPidsLimit),
    runtimeHandler: options.runtimeHandler,
  };
  return { config, events };
}

/** Where the logs of a pod are, as kubelet names it. */
export function podLogDirectory(logRoot: string, pod: SandboxConfig['pod']): string {
  return join(logRoot, `${pod.namespace}_${pod.name}_${pod.uid}`);
}

/** Ports of containers and sidecars; a pod on the node's network has them anyway. */
function hostPorts({ spec }: SeenPod): PortMapping[] {
  if (spec.hostNetwork) return [];
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...spec.containers, ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, containerPort, protocol = 'TCP', hostIP }) =>
      hostPort ? [{ hostPort, containerPort, protocol: protocol as PortMapping['protocol'], hostIP }] : [],
    ),
  );
}
