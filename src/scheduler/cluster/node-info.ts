/** A node with its pods, and the sums that filters and scores need. */
import { podNetworkOf } from '../../kinds/groups/core/node/pod-network.ts';
import { ANY_ADDRESS, type HostPort } from '../../kinds/placement/host-ports.ts';
import { type Labels, NO_LABELS, NO_TAINTS, type Node, type Taint } from '../objects.ts';
import type { PodInfo } from './pod-info.ts';
import { type Allocatable, allocatableOf } from './resources.ts';

const NOTHING: Allocatable = Object.freeze({ cpu: 0, memory: 0, storage: 0, others: undefined, pods: 0 });
const NO_IMAGES: ReadonlyMap<string, number> = new Map();

export class NodeInfo {
  /** Node; undefined while pods are on a node that is not known yet. */
  node: Node | undefined;
  /** Map without a prototype: pods name the labels, and `constructor` must not be a label of every node. */
  labels: Labels = NO_LABELS;
  taints: readonly Taint[] = NO_TAINTS;
  isCordoned = false;
  /** True when its pods have its addresses, so that each port can be used by one of them only. */
  sharesNetwork = false;
  allocatable: Allocatable = NOTHING;
  /** Size in bytes by name, of images that are on the node. */
  images: ReadonlyMap<string, number> = NO_IMAGES;

  /**
   * Allocatable and free amounts. A search through thousands of nodes reads little else, so that these are small integers,
   * which V8 stores in the object itself. Memory is in KiB, rounded so that it is never overcommitted.
   */
  allCpu = 0;
  allKiB = 0;
  freePods = 0;
  freeCpu = 0;
  freeKiB = 0;
  likelyCpu = 0;
  likelyKiB = 0;

  readonly pods = new Map<string, PodInfo>();
  cpu = 0;
  memory = 0;
  storage = 0;
  readonly others = new Map<string, number>();
  /** Number of pods that use a port, by protocol and number, then by address. */
  readonly #ports = new Map<string, Map<string, number>>();

  constructor(readonly name: string) {}

  set(node: Node | undefined): void {
    const before = this.node;
    this.node = node;
    this.labels = Object.assign(Object.create(null), node?.metadata.labels);
    this.taints = node?.spec.taints ?? NO_TAINTS;
    this.isCordoned = node?.spec.unschedulable ?? false;
    this.#share(node !== undefined && podNetworkOf(node) === 'node');
    this.allocatable = node ? allocatableOf(node) : NOTHING;
    this.#measure();
    if (before?.status.images !== node?.status.images) this.images = node ? imagesOf(node) : NO_IMAGES;
  }

  add(pod: PodInfo): void {
    this.pods.set(pod.uid, pod);
    this.#count(pod, 1);
  }

  /** Takes a pod for another state of it that counts the same. */
  replace(pod: PodInfo): void {
    this.pods.set(pod.uid, pod);
  }

  remove(pod: PodInfo): void {
    if (this.pods.delete(pod.uid)) this.#count(pod, -1);
  }

  /** Reports whether another pod has the port. The wildcard address conflicts with every other. */
  isTaken({ address, protocol, port }: HostPort): boolean {
    const used = this.#ports.get(`${protocol} ${port}`);
    if (!used) return false;
    return address === ANY_ADDRESS ? used.size > 0 : used.has(address) || used.has(ANY_ADDRESS);
  }

  portsOf(pod: PodInfo): readonly HostPort[] {
    return this.sharesNetwork ? pod.sharedPorts : pod.hostPorts;
  }

  #measure(): void {
    const { allocatable } = this;
    this.allCpu = allocatable.cpu;
    this.allKiB = Math.floor(allocatable.memory / 1024);
    this.freePods = allocatable.pods - this.pods.size;
    this.freeCpu = allocatable.cpu - this.cpu;
    this.freeKiB = Math.floor((allocatable.memory - this.memory) / 1024);
  }

  #count(pod: PodInfo, sign: 1 | -1): void {
    const { requests } = pod;
    this.cpu += sign * requests.cpu;
    this.memory += sign * requests.memory;
    this.storage += sign * requests.storage;
    this.likelyCpu += sign * requests.likelyCpu;
    this.likelyKiB += sign * requests.likelyKiB;
    this.#measure();
    if (requests.others) for (const [name, amount] of requests.others) bump(this.others, name, sign * amount);
    this.#countPorts(pod, sign);
  }

  #countPorts(pod: PodInfo, sign: 1 | -1): void {
    for (const { address, protocol, port } of this.portsOf(pod)) {
      const key = `${protocol} ${port}`;
      const used = this.#ports.get(key) ?? new Map<string, number>();
      bump(used, address, sign);
      if (used.size > 0) this.#ports.set(key, used);
      else this.#ports.delete(key);
    }
  }

  #share(sharesNetwork: boolean): void {
    if (sharesNetwork === this.sharesNetwork) return;
    this.sharesNetwork = sharesNetwork;
    this.#ports.clear();
    for (const pod of this.pods.values()) this.#countPorts(pod, 1);
  }
}

/** Adds to a count, and removes it at zero. */
export function bump<K>(counts: Map<K, number>, key: K, delta: number): void {
  const next = (counts.get(key) ?? 0) + delta;
  if (next === 0) counts.delete(key);
  else counts.set(key, next);
}

function imagesOf({ status }: Node): ReadonlyMap<string, number> {
  if (!status.images?.length) return NO_IMAGES;
  return new Map(
    status.images.flatMap(({ names = [], sizeBytes = 0 }) => names.map((name) => [name, sizeBytes] as const)),
  );
}
