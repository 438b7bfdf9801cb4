/** Description of a machine in its Node object. */
import { formatQuantity, parseQuantity, scaled, subtractQuantities } from '../../base/quantity.ts';
import type { Host } from './host.ts';
import { DEFAULT_THRESHOLDS, type Threshold } from './pressure/thresholds.ts';

export interface DescribeSettings {
  /** A directory on the file system that pods write to. */
  readonly directory: string;
  readonly maxPods: number;
  /** Amounts kept for the system and for the agent, by resource. */
  readonly reserved: Readonly<Record<string, string>>;
  /** When the node evicts: pods cannot have what is left then. */
  readonly thresholds?: readonly Threshold[];
  /** In Node's words. */
  readonly architecture: string;
  /** `containerRuntimeVersion`, which is known when the runtime has come up. */
  runtimeVersion(): string;
  readonly kubeletVersion: string;
}

type Quantities = Readonly<Record<string, string>>;

export interface MachineDescription {
  readonly capacity: Quantities;
  readonly allocatable: Quantities;
  readonly nodeInfo: Readonly<Record<string, unknown>>;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };
const HUGE_PAGES = 'sys/kernel/mm/hugepages';
const KIB = 1024;

export async function describeMachine(host: Host, settings: DescribeSettings): Promise<MachineDescription> {
  const [cpus, memory, disk, pages] = await Promise.all([
    processors(host),
    host.memory(),
    host.fileSystem(settings.directory),
    hugePages(host),
  ]);
  const memoryBytes = memory.get('MemTotal') ?? 0;
  const hugePageBytes = [...pages.values()].reduce((sum, bytes) => sum + bytes, 0);
  const others = {
    ...Object.fromEntries([...pages].map(([name, bytes]) => [name, binary(bytes)])),
    pods: String(settings.maxPods),
  };
  const { reserved, thresholds = DEFAULT_THRESHOLDS } = settings;
  const kept = (signal: Threshold['signal'], capacity: number) => {
    const threshold = thresholds.find((each) => each.signal === signal);
    const least = threshold?.least ?? 0;
    return typeof least === 'number' ? least : capacity * least.fraction;
  };
  return {
    capacity: {
      cpu: String(cpus),
      'ephemeral-storage': `${Math.floor(disk.capacityBytes / KIB)}Ki`,
      memory: `${Math.floor(memoryBytes / KIB)}Ki`,
      ...others,
    },
    allocatable: {
      cpu: less(String(cpus), reserved.cpu),
      'ephemeral-storage': less(
        String(Math.floor(disk.capacityBytes - kept('nodefs.available', disk.capacityBytes))),
        reserved['ephemeral-storage'],
      ),
      memory: less(
        `${Math.max(0, Math.floor((memoryBytes - kept('memory.available', memoryBytes) - hugePageBytes) / KIB))}Ki`,
        reserved.memory,
      ),
      ...others,
    },
    nodeInfo: await nodeInfo(host, settings, memory.get('SwapTotal') ?? 0),
  };
}

async function processors(host: Host): Promise<number> {
  const info = (await host.text('proc/cpuinfo')) ?? '';
  return Math.max(1, info.match(/^processor\s*:/gm)?.length ?? 0);
}

/** Bytes by resource name: `hugepages-2Mi`. */
async function hugePages(host: Host): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const name of await host.names(HUGE_PAGES)) {
    const kibibytes = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1]);
    if (!kibibytes) continue;
    const count = Number((await host.text(`${HUGE_PAGES}/${name}/nr_hugepages`)) ?? 0);
    found.set(`hugepages-${binary(kibibytes * KIB)}`, count * kibibytes * KIB);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function nodeInfo(host: Host, settings: DescribeSettings, swapBytes: number) {
  const [machineId, uuid, bootId, kernel, release] = await Promise.all([
    host.text('etc/machine-id'),
    host.text('sys/class/dmi/id/product_uuid'),
    host.text('proc/sys/kernel/random/boot_id'),
    host.text('proc/sys/kernel/osrelease'),
    host.text('etc/os-release'),
  ]);
  const name = /^PRETTY_NAME=(?:"([^"]*)"|'([^']*)'|(.*))$/m.exec(release ?? '');
  const { architecture, kubeletVersion } = settings;
  return {
    machineID: machineId ?? '',
    systemUUID: uuid ?? machineId ?? '',
    bootID: bootId ?? '',
    kernelVersion: kernel ?? '',
    osImage: name?.[1] ?? name?.[2] ?? name?.[3] ?? 'Linux',
    containerRuntimeVersion: settings.runtimeVersion(),
    kubeletVersion,
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: ARCHITECTURES[architecture] ?? architecture,
    swap: swapBytes > 0 ? { capacity: swapBytes } : undefined,
  };
}

/** The rest after a reservation; never below zero. */
function less(amount: string, reserved: string | undefined): string {
  if (reserved === undefined) return amount;
  const rest = subtractQuantities(parseQuantity(amount), parseQuantity(reserved));
  return scaled(rest, 3) <= 0n ? '0' : formatQuantity(rest);
}

const binary = (bytes: number) => formatQuantity({ mantissa: BigInt(bytes), exponent: 0, format: 'BinarySI' });
