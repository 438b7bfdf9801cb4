/**
 * Regular work of an agent for its machine: it measures what pods use, evicts one when the machine runs out
 * of something, removes images that nobody needs, and has large logs rotated.
 */
import type { NodeUsage } from '../../api/node-usage.ts';
import { sleep } from '../../base/time/clock.ts';
import type { Tools } from '../../base/tools.ts';
import { isCritical } from '../admission/critical.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { Container, Image, Runtime } from '../runtime/runtime.ts';
import type { DriverVolumeStats, PodUsage } from '../volumes/volumes.ts';
import { DEFAULT_IMAGE_GARBAGE, type ImageHistories, noteImages, planImageGarbage } from './garbage/plan-images.ts';
import type { LocalMachine, MachineObservation } from './local-machine.ts';
import { chooseEvicted, type PodConsumption } from './pressure/choose-evicted.ts';
import { storageExcess } from './pressure/storage-limits.ts';
import { CONDITION_OF, RESOURCE_OF } from './pressure/thresholds.ts';
import { nodeUsage } from './stats/node-usage.ts';
import { resourceMetrics } from './stats/resource-metrics.ts';
import { type PodStats, runningPods } from './stats/running-pods.ts';
import { addSamples, NO_SAMPLES, type Samples } from './stats/samples.ts';
import { summary } from './stats/summary.ts';

export interface HousekeepingOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly signal: AbortSignal;
  readonly nodeName: string;
  readonly machine: Pick<LocalMachine, 'observe'>;
  readonly runtime: Pick<Runtime, 'podUsage' | 'usage' | 'containers' | 'sandboxes' | 'images'>;
  /** The pods that the node runs. */
  pods(): readonly SeenPod[];
  /** Measures what a pod has written, except for the layers of its containers. */
  writtenBy(pod: PodName): Promise<PodUsage>;
  /** Asks drivers for statistics of the volumes of a pod. */
  driverStatsOf?(podUid: string): Promise<readonly DriverVolumeStats[]>;
  rotateLogs(): Promise<void>;
  /** Ends a pod with the reason `Evicted`. `isDisruption`: for the sake of the node, and not for its own excess. */
  evict(pod: SeenPod, message: string, isDisruption: boolean): void;
  /** Reports an event about the node. */
  warn(reason: string, message: string): void;
}

interface PodName {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The volume of a claim. */
export interface ClaimStats {
  readonly namespace: string;
  readonly claim: string;
  readonly stats: Omit<DriverVolumeStats, 'claim'>;
}

/** As often as kubelet looks. */
const INTERVAL_MS = 10_000;
const IMAGE_INTERVAL_MS = 5 * 60_000;

export class Housekeeping {
  readonly #startedAt: number;
  #samples: Samples = NO_SAMPLES;
  #histories: ImageHistories = new Map();
  #imagesAt: number;

  constructor(private readonly options: HousekeepingOptions) {
    this.#startedAt = options.clock.now();
    this.#imagesAt = this.#startedAt;
  }

  /** Resolves when the signal is aborted. */
  async run(): Promise<void> {
    const { clock, log, signal } = this.options;
    while (!signal.aborted) {
      await this.step().catch((error: unknown) => {
        if (!signal.aborted) log.warn('cannot look after the machine', { error: String(error) });
      });
      await sleep(clock, INTERVAL_MS, signal).catch(() => undefined);
    }
  }

  /** One round. */
  async step(): Promise<void> {
    const { machine, runtime, clock, rotateLogs } = this.options;
    await rotateLogs();
    const [observation, usage, ofPods = []] = await Promise.all([
      machine.observe(),
      runtime.usage(),
      runtime.podUsage?.(),
    ]);
    this.#samples = addSamples(this.#samples, observation.usage, [...usage, ...ofPods]);
    const lacksDisk = observation.crossed.some(({ signal }) => CONDITION_OF[signal] === 'DiskPressure');
    const isDue = lacksDisk || clock.now() - this.#imagesAt >= IMAGE_INTERVAL_MS;
    const removed = isDue ? await this.#removeImages(observation) : 0;
    // Images go before pods; the next round sees what that has won.
    if (lacksDisk && removed > 0) return;
    if (observation.crossed.length > 0 || this.#hasLimitedStorage()) await this.#evict(observation);
  }

  /** For `metrics.k8s.io`. Undefined until two rounds were made. */
  async usage(): Promise<NodeUsage | undefined> {
    return nodeUsage(this.#samples, await this.#stats());
  }

  /** For `/metrics/resource`. */
  async resourceMetrics(): Promise<string> {
    return resourceMetrics(this.#samples, await this.#stats());
  }

  /** For `/stats/summary`. Undefined until one round was made. */
  async summary(bootedAt: number): Promise<object | undefined> {
    const { nodeName, runtime, driverStatsOf } = this.options;
    const [pods, images] = await Promise.all([this.#stats(), runtime.images.usage()]);
    const written = await this.#written(pods);
    const writtenBy = (uid: string) => written.get(uid);
    const ofDrivers = new Map(
      await Promise.all(pods.map(async ({ uid }) => [uid, (await driverStatsOf?.(uid)) ?? []] as const)),
    );
    const driverVolumesOf = (uid: string) => ofDrivers.get(uid) ?? [];
    const common = { nodeName, bootedAt, samples: this.#samples, pods, imageBytes: images.bytes };
    return summary({ ...common, writtenBy, driverVolumesOf });
  }

  /** Returns drivers' statistics of the volumes of claims that pods use, each claim once. */
  async claimStats(): Promise<readonly ClaimStats[]> {
    const { pods, driverStatsOf } = this.options;
    if (!driverStatsOf) return [];
    const found = new Map<string, ClaimStats>();
    for (const { metadata } of pods()) {
      const { namespace = '', uid = '' } = metadata;
      for (const { claim, ...stats } of await driverStatsOf(uid)) {
        if (claim !== undefined) found.set(`${namespace}/${claim}`, { namespace, claim, stats });
      }
    }
    return [...found.values()];
  }

  async #stats(): Promise<readonly PodStats[]> {
    const { runtime } = this.options;
    const [sandboxes, containers] = await Promise.all([runtime.sandboxes(), runtime.containers()]);
    return runningPods(sandboxes, containers, this.#samples);
  }

  /** Measures what pods have written, by UID. */
  async #written(pods: readonly PodName[]): Promise<ReadonlyMap<string, PodUsage>> {
    return new Map(await Promise.all(pods.map(async (pod) => [pod.uid, await this.options.writtenBy(pod)] as const)));
  }

  #hasLimitedStorage(): boolean {
    return this.options.pods().some(isLimited);
  }

  /** Pods above their own limits, and one pod when the machine runs out of something. */
  async #evict({ crossed, left }: MachineObservation): Promise<void> {
    const { pods: podsOfNode, evict, warn } = this.options;
    const pods = podsOfNode();
    const stats = new Map((await this.#stats()).map((each) => [each.uid, each]));
    const measured = crossed.length > 0 ? pods : pods.filter(isLimited);
    const written = await this.#written(measured.map(nameOf));
    const writtenBy = ({ metadata }: SeenPod) =>
      withLayers(written.get(metadata.uid ?? '') ?? NOTHING, stats.get(metadata.uid ?? ''));
    const evicted = new Set<SeenPod>();
    for (const pod of measured.filter(isLimited)) {
      const message = storageExcess(pod, writtenBy(pod));
      if (message === undefined || isCritical(pod)) continue;
      evicted.add(pod);
      evict(pod, message, false);
    }
    const threshold = crossed[0];
    if (!threshold) return;
    warn('EvictionThresholdMet', `Attempting to reclaim ${RESOURCE_OF[threshold.signal]}`);
    if (evicted.size > 0) return;
    const consumptionOf = (pod: SeenPod) =>
      consumption(stats.get(pod.metadata.uid ?? ''), written.get(pod.metadata.uid ?? '') ?? NOTHING);
    const chosen = chooseEvicted(pods, consumptionOf, threshold, left);
    if (chosen) evict(chosen.pod, chosen.message, true);
  }

  /** Returns how many were removed. */
  async #removeImages({ usage }: MachineObservation): Promise<number> {
    const { runtime, clock, warn, log } = this.options;
    const now = clock.now();
    this.#imagesAt = now;
    const [images, containers] = await Promise.all([runtime.images.list(), runtime.containers()]);
    const inUse = usedImages(images, containers);
    this.#histories = noteImages(this.#histories, images, inUse, now);
    const state = { images, inUse, histories: this.#histories, disk: usage.imageDisk, startedAt: this.#startedAt };
    const { remove, failure } = planImageGarbage(state, DEFAULT_IMAGE_GARBAGE, now);
    for (const id of remove) {
      log.info('an unused image is removed', { image: id });
      await runtime.images.remove(id);
    }
    if (failure) warn('FreeDiskSpaceFailed', failure);
    return remove.length;
  }
}

const STORAGE = 'ephemeral-storage';

function isLimited({ spec }: SeenPod): boolean {
  return (
    (spec.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) ||
    [...spec.containers, ...(spec.initContainers ?? [])].some(
      ({ resources }) => resources?.limits?.[STORAGE] !== undefined,
    )
  );
}

const NOTHING: PodUsage = { volumes: new Map(), shared: 0, containers: new Map() };

const nameOf = ({ metadata: { namespace = '', name = '', uid = '' } }: SeenPod): PodName => ({ namespace, name, uid });

/** Adds what containers have written to their roots. */
function withLayers(written: PodUsage, stats: PodStats | undefined): PodUsage {
  const containers = new Map(written.containers);
  for (const { name, usage } of stats?.containers ?? []) {
    containers.set(name, (containers.get(name) ?? 0) + (usage.writableBytes ?? 0));
  }
  return { ...written, containers };
}

function consumption(stats: PodStats | undefined, written: PodUsage): PodConsumption | undefined {
  if (!stats) return undefined;
  const all = withLayers(written, stats);
  const containers = stats.containers.map(({ name, usage }) => ({
    name,
    memory: usage.workingSet,
    disk: all.containers.get(name) ?? 0,
  }));
  const sum = (of: (container: (typeof containers)[number]) => number) =>
    containers.reduce((total, container) => total + of(container), 0);
  const inVolumes = [...all.volumes.values()].reduce((total, bytes) => total + bytes, all.shared);
  return { memory: sum(({ memory }) => memory), disk: sum(({ disk }) => disk) + inVolumes, processes: 0, containers };
}

/** Containers name their image in one of several ways. */
function usedImages(images: readonly Image[], containers: readonly Container[]): ReadonlySet<string> {
  const names = new Set(containers.flatMap(({ image, imageId }) => [image, imageId]));
  const isUsed = ({ id, tags, digests }: Image) => [id, ...tags, ...digests].some((name) => names.has(name));
  return new Set(images.filter(isUsed).map(({ id }) => id));
}
