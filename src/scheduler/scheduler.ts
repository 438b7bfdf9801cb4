/**
 * Runs the scheduling loop: takes a pod from the queue, decides, assumes the pod on its node, and binds it while the
 * next one is decided. Decisions that the API rejects are undone and retried.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { isApiError } from '../api/errors.ts';
import { TurnBudget } from '../base/event-loop/turn-budget.ts';
import type { WorkMonitor } from '../base/event-loop/watchdog.ts';
import type { Client, ClientTools } from '../client/client.ts';
import type { Informer } from '../client/informer/informer.ts';
import type { InformerFactory } from '../client/informer/informer-factory.ts';
import type { Change } from '../client/informer/object-cache.ts';
import { Node as NodeKind } from '../kinds/groups/core/node/node.ts';
import { podNetworkOf } from '../kinds/groups/core/node/pod-network.ts';
import { PersistentVolume } from '../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod as PodKind } from '../kinds/groups/core/pod/pod.ts';
import { PodDisruptionBudget } from '../kinds/groups/policy/pod-disruption-budget.ts';
import type { NodeInfo } from './cluster/node-info.ts';
import { PodInfo } from './cluster/pod-info.ts';
import type { VolumePlan } from './cluster/storage.ts';
import { type Explanation, explain } from './explain.ts';
import { decide, type SchedulingDecision } from './framework/decide.ts';
import { failureMessage, NO_NODES } from './framework/diagnosis.ts';
import { type InformedWorld, informedWorld } from './informed-world.ts';
import type { SchedulerMetrics } from './metrics.ts';
import type { Node } from './objects.ts';
import { plugins } from './plugins/all.ts';
import { volumePlan } from './plugins/volumes/volume-binding.ts';
import type { Recorder } from './preemption/evict.ts';
import { evict } from './preemption/evict.ts';
import type { Candidate } from './preemption/importance.ts';
import { preempt } from './preemption/preempt.ts';
import { SchedulingQueue } from './queue/scheduling-queue.ts';
import type { WaitingPod } from './queue/waiting-pod.ts';
import { isReported, StatusWriter, type Waiting } from './status-writer.ts';
import { VolumeBinder } from './volume-binding.ts';

export interface SchedulerOptions extends ClientTools {
  readonly informers: InformerFactory;
  readonly recorder: Recorder;
  /** Monitor that is notified which pod is scheduled. */
  readonly monitor?: WorkMonitor | undefined;
  /** Metrics; absent when nothing is measured. */
  readonly metrics?: SchedulerMetrics | undefined;
  /** The `schedulerName` of pods to schedule. Default: `default-scheduler`. */
  readonly name?: string;
  readonly signal: AbortSignal;
}

const MAX_CONCURRENT_BINDINGS = 256;
/** Maximum number of decisions before it yields to the event loop; fewer when they take long. */
const DECISIONS_PER_TURN = 8;
const MAX_EVENT_MESSAGE_LENGTH = 1024;

export class Scheduler {
  readonly #name: string;
  readonly #world: InformedWorld;
  readonly #queue: SchedulingQueue;
  readonly #status: StatusWriter;
  readonly #budgets: Informer<PodDisruptionBudget>;
  readonly #pods: Informer<PodKind>;
  readonly #nodes: Informer<NodeKind>;
  readonly #volumes: VolumeBinder;
  readonly #position = { next: 0 };
  readonly #errands = new Set<Promise<void>>();
  #bindings = 0;
  #wake = () => {};

  constructor(private readonly options: SchedulerOptions) {
    const { informers } = options;
    this.#name = options.name ?? 'default-scheduler';
    this.#world = informedWorld(informers);
    this.#status = new StatusWriter(options);
    this.#budgets = informers.of(PodDisruptionBudget);
    this.#pods = informers.of(PodKind);
    this.#nodes = informers.of(NodeKind);
    const storage = { claims: informers.of(PersistentVolumeClaim), volumes: informers.of(PersistentVolume) };
    this.#volumes = new VolumeBinder({ ...options, ...storage });
    this.#queue = new SchedulingQueue({ ...options, plugins, world: this.#world, onReady: () => this.#wake() });
    options.metrics?.follow(() => this.#queue.states());
  }

  /** Runs until the signal is aborted and work in progress has ended. */
  async run(): Promise<void> {
    const { signal } = this.options;
    const end = () => this.#wake();
    signal.addEventListener('abort', end, { once: true });
    const leave = [
      this.#nodes.onChange((change) => this.#onNode(change)),
      this.#pods.onChange((change) => this.#onPod(change)),
    ];
    this.#world.onChange((event) => this.#queue.note(event));
    try {
      const synced = [this.#world, this.#budgets, this.#nodes, this.#pods].map((each) => each.synced);
      await Promise.race([Promise.all(synced), aborted(signal)]);
      const budget = new TurnBudget(this.options.clock);
      for (let decisions = 1; !signal.aborted; decisions++) {
        const waiting = this.#bindings < MAX_CONCURRENT_BINDINGS ? this.#queue.take() : undefined;
        if (waiting) this.#schedule(waiting);
        else await this.#news();
        if (decisions % DECISIONS_PER_TURN === 0 || budget.isSpent()) await nextTurn();
      }
    } finally {
      signal.removeEventListener('abort', end);
      for (const each of leave) each();
      this.#queue.close();
      await Promise.all(this.#errands);
    }
  }

  /** Explains the verdict of every node on a pod, waiting or running; undefined when there is no such pod. */
  explain(namespace: string, name: string): Explanation | undefined {
    const pod = this.#pods.lister.get(name, namespace);
    if (!pod) return undefined;
    const waiting = this.#queue.get(pod.metadata.uid ?? '');
    return explain(new PodInfo(pod), { plugins, world: this.#world, waiting });
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #schedule(waiting: WaitingPod): void {
    const { log, random, monitor } = this.options;
    const { info } = waiting;
    monitor?.begin({ work: 'scheduler', describe: () => ({ namespace: info.namespace, name: info.name }) });
    try {
      const decision = decide(info, { plugins, world: this.#world, position: this.#position, random });
      if (decision.type === 'node') this.#assign(waiting, decision.node);
      else this.#reject(waiting, decision);
    } catch (error) {
      log.error('scheduling a pod failed', { namespace: info.namespace, name: info.name, error });
      this.#failed(waiting, String(error));
    }
  }

  #assign(waiting: WaitingPod, node: NodeInfo): void {
    const { cluster, storage } = this.#world;
    const plan = volumePlan(waiting.info, node, this.#world);
    cluster.assume(waiting.info, node.name);
    cluster.nominations.delete(waiting.info.uid);
    if (plan) storage.assume(plan, node.name);
    this.#errand(this.#bind(waiting, node, plan));
  }

  async #bind(waiting: WaitingPod, node: NodeInfo, plan: VolumePlan | undefined): Promise<void> {
    const { recorder, signal } = this.options;
    const { info } = waiting;
    let step = 'running PreBind plugin "VolumeBinding"';
    try {
      if (plan) await this.#volumes.bind(plan, info, node);
      step = 'running Bind plugin "DefaultBinder"';
      this.#bindings++;
      try {
        await bind(info, node.name, this.options);
      } finally {
        this.#bindings--;
        if (this.#queue.isReady) this.#wake();
      }
      this.#measure(waiting, 'scheduled');
      const message = `Successfully assigned ${info.namespace}/${info.name} to ${node.name}`;
      recorder.event(info.pod, 'Normal', 'Scheduled', message);
    } catch (error) {
      if (signal.aborted) return;
      this.#world.cluster.forget(info.uid);
      // Its resources are free again.
      this.#queue.note({ resource: 'Pod', type: 'delete', object: info.pod });
      this.#notBound(waiting, error, step);
    } finally {
      if (plan) this.#world.storage.forget(plan);
    }
  }

  #notBound(waiting: WaitingPod, error: unknown, step: string): void {
    const { log } = this.options;
    const { namespace, name, uid } = waiting.info;
    // It is gone or has a node by now: the informer will report it.
    const isLate = isApiError(error, 'NotFound', 'Conflict') || this.#queue.get(uid) !== waiting;
    if (isLate) log.debug('the pod to bind is gone or bound already', { namespace, name, error });
    else log.warn('binding a pod failed', { namespace, name, error });
    this.#failed(waiting, `${step}: ${error instanceof Error ? error.message : String(error)}`);
  }

  #failed(waiting: WaitingPod, message: string): void {
    this.#measure(waiting, 'error');
    const { uid, pod } = waiting.info;
    if (this.#queue.get(uid) !== waiting) return;
    this.#queue.retry(waiting);
    this.options.recorder.event(pod, 'Warning', 'FailedScheduling', shortened(message));
    this.#status.write({ pod, waiting: { reason: 'SchedulerError', message }, nominatedNode: '' });
  }

  #reject(waiting: WaitingPod, { diagnosis, filters }: Extract<SchedulingDecision, { type: 'none' }>): void {
    const { random, recorder, metrics } = this.options;
    const { info } = waiting;
    this.#measure(waiting, 'unschedulable');
    const budgets = this.#budgets.lister.list();
    const world = this.#world;
    let message = diagnosis.total === 0 ? NO_NODES : failureMessage(diagnosis);
    let nominatedNode: string | undefined = '';
    if (diagnosis.total > 0) {
      const outcome = preempt(info, { world, budgets, random, diagnosis, filters });
      metrics?.preempted(outcome.type === 'victims' ? outcome.candidate.victims.length : 0);
      if (outcome.type === 'victims') {
        nominatedNode = outcome.candidate.nodeName;
      } else {
        message += ` ${outcome.message}`;
        if (!outcome.isHopeless) nominatedNode = undefined;
      }
      this.#queue.reject(waiting, diagnosis.plugins);
      if (outcome.type === 'victims') this.#preempt(info, outcome.candidate);
    } else {
      this.#queue.reject(waiting, diagnosis.plugins);
    }
    if (nominatedNode === '') world.cluster.nominations.delete(info.uid);
    const why: Waiting = { reason: 'Unschedulable', message };
    // After a restart, a pod whose condition already says the same needs no new event.
    const isNews = waiting.attempts > 1 || !isReported(info.pod, why);
    if (isNews) recorder.event(info.pod, 'Warning', 'FailedScheduling', shortened(message));
    this.#status.write({ pod: info.pod, waiting: why, nominatedNode });
  }

  #preempt(info: PodInfo, candidate: Candidate): void {
    const { log } = this.options;
    const { nominations } = this.#world.cluster;
    for (const other of nominations.on(candidate.nodeName)) {
      if (other.priority >= info.priority) continue;
      nominations.delete(other.uid);
      this.#status.write({ pod: other.pod, waiting: undefined, nominatedNode: '' });
    }
    nominations.set(info, candidate.nodeName);
    const evicted = evict(info, candidate, this.options).catch((error: unknown) => {
      if (this.options.signal.aborted) return;
      log.warn('evicting preemption victims failed', { node: candidate.nodeName, error });
      this.#queue.activate(info.uid);
    });
    this.#errand(evicted);
  }

  #measure({ triedAt }: WaitingPod, outcome: Parameters<SchedulerMetrics['attempted']>[0]): void {
    const { metrics, clock } = this.options;
    metrics?.attempted(outcome, (clock.now() - triedAt) / 1000);
  }

  #errand(work: Promise<void>): void {
    const errand = work
      .catch((error: unknown) => this.options.log.error('an errand of the scheduler failed', { error }))
      .finally(() => this.#errands.delete(errand));
    this.#errands.add(errand);
  }

  #onNode(change: Change<NodeKind>): void {
    const { cluster } = this.#world;
    if (change.type === 'delete') cluster.removeNode(change.object.metadata.name ?? '');
    else cluster.setNode(change.object);
    if (change.type === 'update' && !affectsScheduling(change.object, change.old)) return;
    this.#queue.note({ resource: 'Node', ...change });
  }

  #onPod(change: Change<PodKind>): void {
    const { object, type } = change;
    const uid = object.metadata.uid ?? '';
    const { nodeName } = object.spec;
    if (type === 'delete' || hasEnded(object)) {
      this.#leaves(uid, object);
      return;
    }
    const info = PodInfo.of(object);
    if (nodeName) {
      this.#queue.delete(uid);
      this.#world.cluster.nominations.delete(uid);
      this.#world.cluster.place(info, nodeName);
      const isNews = type === 'update' && change.old.spec.nodeName;
      this.#queue.note(isNews ? { resource: 'Pod', ...change } : { resource: 'Pod', type: 'add', object });
    } else if (object.spec.schedulerName === this.#name) {
      this.#enqueue(info);
    }
  }

  #leaves(uid: string, object: PodInfo['pod']): void {
    const { cluster } = this.#world;
    const wasSomewhere = cluster.nodeOf(uid) !== undefined || cluster.nominations.nodeOf(uid) !== undefined;
    this.#queue.delete(uid);
    this.#volumes.cancel(uid);
    cluster.nominations.delete(uid);
    cluster.remove(uid);
    if (wasSomewhere) this.#queue.note({ resource: 'Pod', type: 'delete', object });
  }

  /** Adds a pod that has no node to the queue. */
  #enqueue(info: PodInfo): void {
    const { cluster } = this.#world;
    const { uid, pod } = info;
    const assumed = cluster.isAssumed(uid) ? cluster.nodeOf(uid) : undefined;
    if (assumed) {
      cluster.assume(info, assumed.name);
      this.#queue.update(info);
      return;
    }
    if (info.isLeaving) {
      this.#leaves(uid, pod);
      return;
    }
    const nominated = pod.status.nominatedNodeName;
    if (nominated) cluster.nominations.set(info, nominated);
    this.#queue.add(info);
  }
}

function hasEnded({ status }: PodInfo['pod']): boolean {
  return status.phase === 'Succeeded' || status.phase === 'Failed';
}

function shortened(message: string): string {
  return message.length <= MAX_EVENT_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_EVENT_MESSAGE_LENGTH - 4)} ...`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

interface BindingOptions {
  readonly client: Client;
  readonly signal: AbortSignal;
}

async function bind(pod: PodInfo, nodeName: string, { client, signal }: BindingOptions): Promise<void> {
  const { name, namespace, uid } = pod;
  const binding = client.of(PodKind).in(namespace).subresource(name, 'binding');
  const target = { apiVersion: 'v1', kind: 'Node', name: nodeName };
  await binding.create({ apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace, uid }, target }, { signal });
}

/** Reports whether a field has changed that scheduling reads: most updates of a node are only heartbeats. */
function affectsScheduling(now: Node, before: Node): boolean {
  return (
    (now.spec.unschedulable ?? false) !== (before.spec.unschedulable ?? false) ||
    podNetworkOf(now) !== podNetworkOf(before) ||
    differ(now.metadata.labels, before.metadata.labels) ||
    differ(now.spec.taints, before.spec.taints) ||
    differ(now.status.allocatable, before.status.allocatable)
  );
}

function differ(a: unknown, b: unknown): boolean {
  return a !== b && JSON.stringify(a) !== JSON.stringify(b);
}
