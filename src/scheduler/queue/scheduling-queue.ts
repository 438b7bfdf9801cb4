/**
 * The scheduling queue. The pod with the highest priority is first, then the one that has waited longest. A pod that did not
 * fit waits until an event may help it, by the hints of the plugins that rejected it, and at least for its back-off.
 */
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import { Heap } from '../../base/collections/heap.ts';
import { backoffDelay } from '../../base/time/backoff.ts';
import type { Timer } from '../../base/time/clock.ts';
import type { Tools } from '../../base/tools.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { World } from '../cluster/world.ts';
import type { ClusterEvent } from '../framework/events.ts';
import type { Plugin, QueueingHints } from '../framework/plugin.ts';
import { WaitingPod, type WaitingState } from './waiting-pod.ts';

export interface SchedulingQueueOptions extends Pick<Tools, 'clock' | 'random'> {
  readonly plugins: readonly Plugin[];
  readonly world: World;
  /** Called when a pod becomes ready. */
  readonly onReady: () => void;
}

const BACKOFF_MS = { base: 1_000, max: 10_000, jitter: 0 };
/** Maximum number of promptly retried pods; with more unschedulable ones, their back-off grows with their number. */
const MAX_PROMPTLY_RETRIED = 1_000;
/** Time after which a pod is retried in any case, should a hint be missing. */
const MAX_UNSCHEDULABLE_MS = 300_000;

/** A heap entry. It is stale once the pod has moved, so that removal does not search the heap. */
interface HeapEntry {
  readonly waiting: WaitingPod;
  readonly order: number;
  readonly at: number;
}

export class SchedulingQueue {
  readonly #hints = new Map<string, QueueingHints>();
  readonly #pods = new Map<string, WaitingPod>();
  readonly #ready = new Heap<HeapEntry>(
    ({ waiting: a, order: x }, { waiting: b, order: y }) =>
      a.info.priority > b.info.priority || (a.info.priority === b.info.priority && x < y),
  );
  readonly #backingOff = new Heap<HeapEntry>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order));
  readonly #rejectedBy = new Map<string, Set<WaitingPod>>();
  /** Unschedulable pods, longest waiting first. */
  readonly #unschedulable = new Set<WaitingPod>();
  #order = 0;
  #timer: { readonly timer: Timer; readonly at: number } | undefined;

  constructor(private readonly options: SchedulingQueueOptions) {
    for (const { name, hints } of options.plugins) if (hints) this.#hints.set(name, hints);
  }

  get(uid: string): WaitingPod | undefined {
    return this.#pods.get(uid);
  }

  /** The states of all pods in the queue. */
  *states(): Generator<WaitingState> {
    for (const { state } of this.#pods.values()) yield state;
  }

  get isReady(): boolean {
    this.#dropStale(this.#ready);
    return this.#ready.size > 0;
  }

  add(info: PodInfo): void {
    if (this.#pods.has(info.uid)) {
      this.update(info);
      return;
    }
    const waiting = new WaitingPod(info);
    this.#pods.set(info.uid, waiting);
    if (isGated(info)) this.#move(waiting, 'gated');
    else this.#makeReady(waiting);
  }

  /** Updates a pod; the change itself may help it. */
  update(info: PodInfo): void {
    const waiting = this.#pods.get(info.uid);
    if (!waiting) return;
    const old = waiting.info.pod;
    waiting.info = info;
    if (waiting.state === 'gated') {
      if (!isGated(info)) this.#makeReady(waiting);
    } else if (waiting.state === 'unschedulable') {
      const event: ClusterEvent = { resource: 'Pod', type: 'update', object: info.pod, old };
      if (hasChanged(info.pod, old) && this.#isHelped(waiting, event)) this.#wake(waiting);
    }
  }

  /** Removes a pod that was deleted or got a node. */
  delete(uid: string): void {
    const waiting = this.#pods.get(uid);
    if (!waiting) return;
    this.#move(waiting, 'tried');
    this.#pods.delete(uid);
  }

  /** Returns the next ready pod. The caller owns it until it reports the result. */
  take(): WaitingPod | undefined {
    this.#dropStale(this.#ready);
    const waiting = this.#ready.pop()?.waiting;
    if (!waiting) return undefined;
    waiting.attempts++;
    this.#move(waiting, 'tried');
    waiting.triedAt = waiting.since;
    return waiting;
  }

  /** Marks the pod as unschedulable, rejected by these plugins. */
  reject(waiting: WaitingPod, plugins: ReadonlySet<string>): void {
    if (!this.#isHere(waiting)) return;
    waiting.rejectedBy = plugins;
    waiting.notBefore = this.#now() + this.#delay(waiting);
    this.#move(waiting, isGated(waiting.info) ? 'gated' : 'unschedulable');
  }

  /** Retries a pod after an error, with back-off. */
  retry(waiting: WaitingPod): void {
    if (!this.#isHere(waiting)) return;
    waiting.notBefore = this.#now() + this.#delay(waiting);
    this.#wake(waiting);
  }

  /** Retries an unschedulable pod in any case. */
  activate(uid: string): void {
    const waiting = this.#pods.get(uid);
    if (waiting?.state === 'unschedulable') this.#wake(waiting);
  }

  /** Wakes the pods that the event may help. */
  note(event: ClusterEvent): void {
    if (this.#unschedulable.size === 0) return;
    const { world } = this.options;
    for (const [plugin, rejected] of this.#rejectedBy) {
      const hint = plugin === NO_NODES ? isNewNode : this.#hints.get(plugin)?.[event.resource];
      if (!hint) continue;
      for (const waiting of [...rejected]) {
        if (hint(event as never, waiting.info, world)) this.#wake(waiting);
      }
    }
  }

  close(): void {
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    for (const waiting of this.#pods.values()) this.#move(waiting, 'tried');
    this.#pods.clear();
  }

  #isHere(waiting: WaitingPod): boolean {
    return this.#pods.get(waiting.info.uid) === waiting;
  }

  #isHelped({ rejectedBy, info }: WaitingPod, event: ClusterEvent): boolean {
    const { world } = this.options;
    return [...rejectedBy].some((plugin) => {
      const hint = this.#hints.get(plugin)?.[event.resource];
      return hint?.(event as never, info, world) ?? false;
    });
  }

  #wake(waiting: WaitingPod): void {
    if (waiting.notBefore <= this.#now()) {
      this.#makeReady(waiting);
      return;
    }
    this.#move(waiting, 'backing off');
    this.#backingOff.push({ waiting, order: waiting.order, at: waiting.notBefore });
    this.#arm();
  }

  #makeReady(waiting: WaitingPod): void {
    this.#move(waiting, 'ready');
    this.#ready.push({ waiting, order: waiting.order, at: waiting.since });
    this.options.onReady();
  }

  /** Moves a pod to a state, with a new number, which makes old heap entries stale. */
  #move(waiting: WaitingPod, state: WaitingPod['state']): void {
    if (waiting.state === 'unschedulable') this.#leave(waiting);
    waiting.state = state;
    waiting.since = this.#now();
    waiting.order = ++this.#order;
    if (state === 'unschedulable') this.#enter(waiting);
  }

  #enter(waiting: WaitingPod): void {
    this.#unschedulable.add(waiting);
    for (const plugin of keysOf(waiting)) {
      getOrInsert(this.#rejectedBy, plugin, () => new Set()).add(waiting);
    }
    this.#arm();
  }

  #leave(waiting: WaitingPod): void {
    this.#unschedulable.delete(waiting);
    for (const plugin of keysOf(waiting)) {
      const rejected = this.#rejectedBy.get(plugin);
      rejected?.delete(waiting);
      if (rejected?.size === 0) this.#rejectedBy.delete(plugin);
    }
  }

  #dropStale(heap: Heap<HeapEntry>): void {
    for (let top = heap.peek(); top && top.waiting.order !== top.order; top = heap.peek()) heap.pop();
  }

  /** Arms one timer for the earliest pod; none while no pod waits for time. */
  #arm(): void {
    this.#dropStale(this.#backingOff);
    const [oldest] = this.#unschedulable;
    const next = Math.min(this.#backingOff.peek()?.at ?? NEVER, oldest ? oldest.since + MAX_UNSCHEDULABLE_MS : NEVER);
    if (this.#timer && this.#timer.at <= next && next !== NEVER) return;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    if (next === NEVER) return;
    const { clock } = this.options;
    this.#timer = { at: next, timer: clock.timer(next - this.#now(), () => this.#due()) };
  }

  #due(): void {
    this.#timer = undefined;
    const now = this.#now();
    for (;;) {
      this.#dropStale(this.#backingOff);
      const top = this.#backingOff.peek();
      if (!top || top.at > now) break;
      this.#backingOff.pop();
      this.#makeReady(top.waiting);
    }
    for (const waiting of [...this.#unschedulable]) {
      if (waiting.since + MAX_UNSCHEDULABLE_MS > now) break;
      this.#wake(waiting);
    }
    this.#arm();
  }

  /** The more pods do not fit, the less often each is tried: all together are tried at a limited rate. */
  #delay({ attempts }: WaitingPod): number {
    const crowd = Math.max(1, this.#unschedulable.size / MAX_PROMPTLY_RETRIED);
    return Math.min(MAX_UNSCHEDULABLE_MS, backoffDelay(attempts, BACKOFF_MS, this.options.random) * crowd);
  }

  #now(): number {
    return this.options.clock.now();
  }
}

const NEVER = Number.POSITIVE_INFINITY;
/** Stands for pods that were rejected because there was no node at all. */
const NO_NODES = '';
const ONLY_NO_NODES: readonly string[] = [NO_NODES];

function keysOf({ rejectedBy }: WaitingPod): Iterable<string> {
  return rejectedBy.size > 0 ? rejectedBy : ONLY_NO_NODES;
}

function isNewNode({ resource, type }: ClusterEvent): boolean {
  return resource === 'Node' && type === 'add';
}

function isGated({ pod }: PodInfo): boolean {
  return (pod.spec.schedulingGates?.length ?? 0) > 0;
}

type Pod = PodInfo['pod'];

/** Reports whether anything but the status changed. Objects of different writes share no parts. */
function hasChanged(now: Pod, before: Pod): boolean {
  return (
    now.metadata.generation !== before.metadata.generation ||
    JSON.stringify(now.metadata.labels) !== JSON.stringify(before.metadata.labels) ||
    JSON.stringify(now.spec) !== JSON.stringify(before.spec)
  );
}
