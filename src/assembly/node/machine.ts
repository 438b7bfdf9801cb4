/** Describes this machine for its Node object. */
import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import type { Clock } from '../../base/time/clock.ts';
import type { MachineResources } from '../../node/container/resources.ts';
import { Host } from '../../node/machine/host.ts';
import { LocalMachine } from '../../node/machine/local-machine.ts';
import type { NodeConfig } from './node-config.ts';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** As Go and container images name it. */
export const architectureOf = (arch: string) => ARCHITECTURES[arch] ?? arch;

export interface MachineOptions {
  /** The Kubernetes version to report. */
  readonly version: string;
  readonly runtimeVersion: () => string;
  /** Where the node has its files. */
  readonly directory: string;
  readonly clock: Clock;
  readonly config: Pick<NodeConfig, 'maxPods' | 'reserved' | 'thresholds'>;
}

export function thisMachine({ version, runtimeVersion, directory, clock, config }: MachineOptions): LocalMachine {
  return new LocalMachine({
    host: new Host(),
    clock,
    describe: {
      ...config,
      directory,
      runtimeVersion,
      architecture: process.arch,
      kubeletVersion: version,
    },
    directories: { node: directory, images: directory },
    thresholds: config.thresholds,
  });
}

export async function machineResources(): Promise<MachineResources> {
  const isUnified = (await text('/sys/fs/cgroup/cgroup.controllers')) !== '';
  return { memoryBytes: totalmem(), cgroupVersion: isUnified ? 2 : 1, hugePageSizes: [] };
}

export async function text(file: string): Promise<string> {
  return (await readFile(file, 'utf8').catch(() => '')).trim();
}
