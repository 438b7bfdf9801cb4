/** Converts sandboxes, containers and images of CRI into the types of the runtime contract. */
import type { Decoded } from '../../../protocols/protobuf/message.ts';
import type { ContainerResources } from '../../runtime/container-config.ts';
import type { Container, ContainerUsage, Image, Sandbox } from '../../runtime/runtime.ts';
import type { ContainerStatus } from '../messages/container.ts';
import type { ImageMessage } from '../messages/image.ts';
import type { SandboxStatus } from '../messages/sandbox.ts';
import type { Resources } from '../messages/shared.ts';
import type { ListUsageResponse } from '../messages/status.ts';
import { IMAGE_ANNOTATION, SANDBOX_ANNOTATION, withoutMarks } from './labels.ts';

const NANOSECONDS_PER_MS = 1e6;

export function seenSandbox(status: Decoded<typeof SandboxStatus>): Sandbox {
  const { metadata, network } = status;
  const addresses = [network?.ip ?? '', ...(network?.additional ?? []).map(({ ip }) => ip)];
  return {
    id: status.id,
    pod: { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '', uid: metadata?.uid ?? '' },
    attempt: metadata?.attempt ?? 0,
    isReady: status.state === 'ready',
    createdAt: milliseconds(status.createdAt),
    addresses: addresses.filter((address) => address !== ''),
    labels: withoutMarks(status.labels),
    annotations: withoutMarks(status.annotations),
  };
}

export function seenContainer(status: Decoded<typeof ContainerStatus>): Container {
  const { state = 'unknown', annotations } = status;
  const { finishedAt } = status;
  const hasEnded = state === 'exited' || finishedAt > 0;
  // containerd notes the start of a container after it has started it: a short one has ended by then.
  const startedAt = finishedAt > 0 ? Math.min(status.startedAt, finishedAt) : status.startedAt;
  return {
    id: status.id,
    sandboxId: annotations[SANDBOX_ANNOTATION] ?? '',
    name: status.metadata?.name ?? '',
    attempt: status.metadata?.attempt ?? 0,
    state,
    createdAt: milliseconds(status.createdAt),
    startedAt: startedAt > 0 ? milliseconds(startedAt) : undefined,
    finishedAt: finishedAt > 0 ? milliseconds(finishedAt) : undefined,
    exitCode: hasEnded ? status.exitCode : undefined,
    reason: status.reason || undefined,
    message: status.message || undefined,
    image: annotations[IMAGE_ANNOTATION] ?? status.image?.image ?? '',
    imageId: status.imageRef,
    labels: withoutMarks(status.labels),
    annotations: withoutMarks(annotations),
    logPath: status.logPath,
    resources: status.resources?.linux && seenResources(status.resources.linux),
  };
}

function seenResources(resources: Decoded<typeof Resources>): ContainerResources {
  return {
    cpuShares: resources.cpuShares || undefined,
    cpuQuota: resources.cpuQuota || undefined,
    cpuPeriod: resources.cpuPeriod || undefined,
    memoryBytes: resources.memoryBytes || undefined,
    oomScoreAdj: resources.oomScoreAdj || undefined,
    hugepages: resources.hugepages,
    cpusetCpus: resources.cpusetCpus || undefined,
    unified: Object.keys(resources.unified).length > 0 ? resources.unified : undefined,
  };
}

/** Returns the usage; undefined for a container that is not running. */
export function seenUsage(stats: Decoded<typeof ListUsageResponse>['stats'][number]): ContainerUsage | undefined {
  const { attributes, cpu, memory, writable } = stats;
  if (!attributes || cpu?.nanoseconds === undefined || memory?.workingSet === undefined) return undefined;
  return {
    id: attributes.id,
    time: milliseconds(cpu.time),
    cpuNanoseconds: cpu.nanoseconds,
    workingSet: memory.workingSet,
    rss: memory.rss,
    writableBytes: writable?.usedBytes,
  };
}

export function seenImage(image: Decoded<typeof ImageMessage>, pauseImage: string | undefined): Image {
  return {
    id: image.id,
    tags: image.tags,
    digests: image.digests,
    bytes: image.bytes,
    user: image.uid ?? (image.username || undefined),
    isPinned: image.isPinned || (pauseImage !== undefined && image.tags.includes(pauseImage)),
  };
}

function milliseconds(nanoseconds: number): number {
  return Math.floor(nanoseconds / NANOSECONDS_PER_MS);
}
