/** The pods of the node: those of the API, and those that the runtime still has although nobody knows them. */

import { unlessAborted } from '../../base/event-loop/unless-aborted.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Informer } from '../../client/informer/informer.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { rejectionMessage } from '../../kinds/shapes/pod/rejection.ts';
import { type Admission, PREEMPTED } from '../admission/admit.ts';
import { fromApi, isMirror, isStatic } from '../admission/critical.ts';
import type { Rejection } from '../admission/rejection.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { PodFailure } from '../pod/plan/state.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { ActionContext } from './actions/context.ts';
import { AgentCounters } from './counters.ts';
import { releaseLeftovers } from './leftovers.ts';
import { type PodRecords, RuntimeView } from './runtime-view.ts';
import { MirrorPods, type MirrorPodsOptions } from './static/mirror-pods.ts';
import { StaticPods } from './static/static-pods.ts';
import { StatusWriter, type StatusWriterOptions } from './status/status-writer.ts';
import { eventSubject } from './worker/events.ts';
import { PodWorker } from './worker/pod-worker.ts';
import type { Records } from './worker/records.ts';

export interface AgentPodsOptions extends Omit<MirrorPodsOptions, 'clock'>, Pick<StatusWriterOptions, 'hostIP'> {
  readonly context: ActionContext;
  readonly recorder: EventRecorder;
  readonly recordsOf: () => Records;
  /** Decides whether the node runs a pod, given those that it runs already. One that is not new has its ports. */
  readonly admission: (pod: SeenPod, others: readonly SeenPod[], isNew: boolean) => Promise<Admission>;
}

interface Followed {
  readonly worker: PodWorker;
  hasEnded: boolean;
}

/** As kubelet evicts when a hard threshold is crossed. */
const EVICTION_GRACE_SECONDS = 1;

export class AgentPods {
  readonly #view: RuntimeView;
  /** Followed pods by UID. */
  readonly #followed = new Map<string, Followed>();
  readonly counters = new AgentCounters();
  readonly #mirrors: MirrorPods;
  readonly #statics: StaticPods;
  readonly #status: StatusWriter;
  /** Admits one pod at a time: each takes resources from the next. */
  #admitting: Promise<unknown> = Promise.resolve();
  #isTakenOver = false;
  #isFollowing = false;

  constructor(private readonly options: AgentPodsOptions) {
    const { runtime, clock } = options.context;
    this.#view = new RuntimeView({ runtime, onChange: (uids) => this.#wake(uids) });
    this.#mirrors = new MirrorPods({ ...options, clock });
    this.#status = new StatusWriter({
      ...options,
      clock,
      limitation: (pod) => limitationOf(pod, runtime),
      shownAs: (pod) => (isStatic(pod) ? this.#mirrors.of(pod) : pod),
    });
    this.#statics = new StaticPods({
      mirrors: this.#mirrors,
      now: () => clock.now(),
      start: (pod) => this.#start(uidOf(pod), pod).worker.wake(),
      end: (pod) => this.#followed.get(uidOf(pod))?.worker.update(pod),
      isOccupied: (pod) => this.#isOccupied(pod),
    });
  }

  /** Returns the pod of that name which the agent runs now. */
  find(namespace: string, name: string): PodWorker | undefined {
    for (const { worker } of this.#followed.values()) {
      const { metadata } = worker.pod;
      if (metadata.namespace === namespace && metadata.name === name && !worker.isRemoved) return worker;
    }
    return undefined;
  }

  /** All pods that the agent runs or ends. */
  *workers(): Iterable<PodWorker> {
    for (const { worker } of this.#followed.values()) yield worker;
  }

  /** The pods that it runs. */
  running(): readonly SeenPod[] {
    const isRunning = ({ state }: PodWorker) => state !== undefined && !state.endPhase && !state.failure;
    return [...this.workers()].filter(isRunning).map((worker) => worker.pod);
  }

  /** Ends a pod because the node runs out of something, or because the pod uses more than it may. */
  evict(pod: SeenPod, message: string, isDisruption: boolean): void {
    const reason = 'Evicted';
    this.options.recorder.event(eventSubject(pod, undefined), 'Warning', reason, message);
    this.#followed.get(uidOf(pod))?.worker.fail({
      reason,
      message,
      graceSeconds: EVICTION_GRACE_SECONDS,
      disruption: isDisruption ? message : undefined,
    });
  }

  /** Takes over what runs. Rejects when the runtime cannot be listed. */
  async takeOver(): Promise<void> {
    await this.#view.refresh();
    this.#isTakenOver = true;
  }

  /** Runs these static pods, and ends those that it ran before. What runs must have been taken over. */
  setStatic(pods: readonly SeenPod[]): void {
    this.#statics.set(pods);
  }

  /** Follows the pods of the API. What runs must have been taken over, and static pods must have been set. */
  async follow(pods: Informer<Pod>): Promise<void> {
    const { signal, log } = this.options;
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    this.#status.start();
    const leave = pods.onChange(({ type, object }) => (type === 'delete' ? this.#remove(object) : this.#put(object)));
    signal.addEventListener('abort', leave, { once: true });
    await unlessAborted(pods.synced, signal);
    this.#mirrors.connect();
    for (const uid of this.#view.uids()) this.#endOrphan(uid);
    const { volumes, clock } = this.options.context;
    await releaseLeftovers({ volumes, clock, log, signal, isFollowed: (uid) => this.#followed.has(uid) });
  }

  /** Lists the runtime again, since something has changed. */
  refresh(): void {
    if (!this.#isTakenOver) return;
    this.#view.refresh().catch((error: unknown) => {
      if (!this.options.signal.aborted) this.options.log.warn('cannot list what runs', { error: String(error) });
    });
  }

  async stopped(): Promise<void> {
    await Promise.all([
      this.#mirrors.stopped(),
      this.#status.stopped(),
      ...[...this.#followed.values()].map(({ worker }) => worker.stop()),
    ]);
  }

  #put(object: SeenPod): void {
    if (isMirror(object)) {
      this.#putMirror(object);
      return;
    }
    const pod = fromApi(object);
    const uid = uidOf(pod);
    const known = this.#followed.get(uid);
    if (known) {
      known.worker.update(pod);
      this.#status.check(known.worker);
      return;
    }
    this.#start(uid, pod).worker.wake();
  }

  #remove(pod: SeenPod): void {
    if (isMirror(pod)) this.#mirrors.remove(pod);
    else this.#followed.get(uidOf(pod))?.worker.remove();
  }

  #putMirror(mirror: SeenPod): void {
    this.#mirrors.put(mirror);
    for (const worker of this.workers()) {
      if (isStatic(worker.pod) && this.#mirrors.of(worker.pod) === mirror) this.#status.check(worker);
    }
  }

  /** Reports whether a pod of that name is on the node. Leftovers that nobody knows of are ended. */
  #isOccupied(wanted: SeenPod): boolean {
    const { namespace, name } = wanted.metadata;
    for (const uid of this.#view.uids()) {
      const { pod } = this.#view.of(uid).sandboxes[0] ?? {};
      if (pod?.namespace === namespace && pod?.name === name && uid !== uidOf(wanted)) this.#endOrphan(uid);
    }
    return [...this.workers()].some(
      ({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name,
    );
  }

  #endOrphan(uid: string): void {
    if (this.#followed.has(uid)) return;
    const pod = orphanOf(this.#view.of(uid));
    if (pod) this.#start(uid, pod).worker.remove();
  }

  #start(uid: string, pod: SeenPod): Followed {
    const { context, log, recorder } = this.options;
    const worker = new PodWorker(pod, {
      context,
      log,
      counters: this.counters,
      view: this.#view,
      records: this.options.recordsOf(),
      emit: (about, { type, reason, message, container }) =>
        recorder.event(eventSubject(about, container), type, reason, message),
      admit: (each) => this.#admit(each),
      admitResize: (each) => this.#admitResize(each),
      onResized: () => this.#retryResizes(),
      onStatus: () => this.#report(uid),
    });
    const followed = { worker, hasEnded: false };
    this.#followed.set(uid, followed);
    return followed;
  }

  #admit(pod: SeenPod): Promise<PodFailure | undefined> {
    const admitting = this.#admitting.then(async () => {
      const rejection = await this.#rejectionOf(pod);
      const warn = (why: string, text: string) =>
        this.options.recorder.event(eventSubject(pod, undefined), 'Warning', why, text);
      if (!rejection) {
        const ignored = this.options.context.runtime.ignoredRequests?.(pod) ?? [];
        if (ignored.length > 0) warn('PodFeatureIgnored', ignored.join('; '));
        return undefined;
      }
      const { reason, message } = rejection;
      warn(reason, message);
      return { reason, message: rejectionMessage(message), isRejection: true };
    });
    this.#admitting = admitting.catch(() => undefined);
    return admitting;
  }

  /** One at a time, too. A resize preempts nothing. */
  #admitResize(pod: SeenPod): Promise<Rejection | undefined> {
    if (isStatic(pod)) return Promise.resolve(STATIC_RESIZE);
    const admitting = this.#admitting.then(async () => {
      const decision = await this.options.admission(pod, this.running(), false);
      if (decision.type === 'admitted') return undefined;
      return decision.type === 'rejected' ? decision : decision.lacking;
    });
    this.#admitting = admitting.catch(() => undefined);
    return admitting;
  }

  /** Something has become free. */
  #retryResizes(): void {
    for (const worker of this.workers()) if (worker.state?.resizeRejection) worker.wake();
  }

  async #rejectionOf(pod: SeenPod): Promise<Rejection | undefined> {
    const { context, admission } = this.options;
    const unsupported = context.runtime.rejection(pod);
    if (unsupported) return { reason: 'PodFeatureUnsupported', message: unsupported };
    const decision = await admission(pod, this.running(), true);
    switch (decision.type) {
      case 'admitted':
        return undefined;
      case 'rejected':
        return decision;
      case 'preempting':
        for (const victim of decision.victims) this.#preempt(victim);
        return undefined;
    }
  }

  /** Ends a pod to make room for a critical one. */
  #preempt(victim: SeenPod): void {
    const { reason, message } = PREEMPTED;
    this.options.recorder.event(eventSubject(victim, undefined), 'Warning', reason, message);
    this.#followed.get(uidOf(victim))?.worker.fail(PREEMPTED);
  }

  #report(uid: string): void {
    const followed = this.#followed.get(uid);
    if (!followed) return;
    const { worker } = followed;
    if (worker.state?.endPhase && !followed.hasEnded) {
      followed.hasEnded = true;
      this.#retryResizes();
    }
    if (worker.isFinished && (worker.isRemoved || isStatic(worker.pod))) this.#forget(uid);
    else this.#status.report(worker);
  }

  #forget(uid: string): void {
    const followed = this.#followed.get(uid);
    this.#followed.delete(uid);
    if (!followed) return;
    void followed.worker.stop();
    this.#status.forget(followed.worker);
    this.#statics.ended(followed.worker.pod);
  }

  #wake(uids: readonly string[]): void {
    for (const uid of uids) {
      const known = this.#followed.get(uid);
      known?.worker.wake();
    }
  }
}

/** Describes missing isolation of containers on this node, and ignored requests of the pod. */
function limitationOf(pod: SeenPod, { limitation, ignoredRequests }: Runtime): string | undefined {
  const ignored = ignoredRequests?.(pod) ?? [];
  if (ignored.length === 0) return limitation;
  return `${limitation === undefined ? '' : `${limitation} `}Of this pod, ${ignored.join('; ')}.`;
}

const STATIC_RESIZE: Rejection = {
  reason: 'Infeasible',
  message: 'In-place resize of static-pods is not supported',
};

const uidOf = ({ metadata: { uid = '' } }: SeenPod) => uid;

/** As in Kubernetes, pods that the API does not know any more are stopped within a second. */
const ORPHAN_GRACE_SECONDS = 1;

/** Returns a pod with as much as is needed to end it. */
function orphanOf({ sandboxes, containers }: PodRecords): SeenPod | undefined {
  const [newest] = sandboxes;
  if (!newest) return undefined;
  const names = [...new Set(containers.map(({ name }) => name))];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...newest.pod, deletionGracePeriodSeconds: ORPHAN_GRACE_SECONDS },
    spec: { containers: names.map((name) => ({ name, image: '' })) },
    status: {},
  } as unknown as SeenPod;
}
