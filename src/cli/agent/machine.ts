/** Describes this machine for its Node object. */
import { readFile } from 'node:fs/promises';
import { availableParallelism, release, totalmem } from 'node:os';
import type { Machine, Pressure } from '../../node/agent/node/machine.ts';
import type { MachineResources } from '../../node/container/resources.ts';

const MAX_PODS = 110;
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
/** Kept free for the node itself. */
const RESERVED_MEMORY_BYTES = 100 * 2 ** 20;

/** As Go and container images name it. */
export const architectureOf = (arch: string) => ARCHITECTURES[arch] ?? arch;

export interface MachineOptions {
  /** The Kubernetes version to report. */
  readonly version: string;
  readonly runtimeVersion: () => string;
}

export function thisMachine({ version, runtimeVersion }: MachineOptions): Machine {
  return {
    async describe() {
      const memory = Math.floor(totalmem() / 1024);
      const common = { cpu: String(availableParallelism()), pods: String(MAX_PODS) };
      const [machineID, bootID, osImage] = await Promise.all([
        text('/etc/machine-id'),
        text('/proc/sys/kernel/random/boot_id'),
        osName(),
      ]);
      return {
        capacity: { ...common, memory: `${memory}Ki` },
        allocatable: { ...common, memory: `${Math.max(0, memory - RESERVED_MEMORY_BYTES / 1024)}Ki` },
        nodeInfo: {
          ...{ machineID, systemUUID: machineID, bootID, osImage, kernelVersion: release() },
          ...{ containerRuntimeVersion: runtimeVersion(), kubeletVersion: version, kubeProxyVersion: '' },
          ...{ operatingSystem: 'linux', architecture: architectureOf(process.arch) },
        },
      };
    },
    pressures: () => NO_PRESSURE,
  };
}

const NO_PRESSURE: readonly Pressure[] = [
  ['MemoryPressure', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'] as const,
  ['DiskPressure', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'] as const,
  ['PIDPressure', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'] as const,
].map(([type, reason, message]) => ({ type, reason, message, isPressed: false }));

export async function machineResources(): Promise<MachineResources> {
  const isUnified = (await text('/sys/fs/cgroup/cgroup.controllers')) !== '';
  return { memoryBytes: totalmem(), cgroupVersion: isUnified ? 2 : 1, hugePageSizes: [] };
}

async function osName(): Promise<string> {
  return /^PRETTY_NAME="?([^"\n]*)/m.exec(await text('/etc/os-release'))?.[1] ?? 'Linux';
}

export async function text(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(() => '')).trim();
}
