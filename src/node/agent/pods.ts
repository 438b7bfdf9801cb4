/** The pods of the node: those of the API, and those that the runtime still has although nobody knows them. */
import type { Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { Informer } from '../../client/informer/informer.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { type Admission, PREEMPTED } from '../admission/admit.ts';
import type { Refusal } from '../admission/refusal.ts';
import type { SeenPod } from '../pod/container-run.ts';
import type { PodFailure } from '../pod/plan/state.ts';
import type { ActionContext } from './actions/context.ts';
import { orphanOf } from './orphan.ts';
import { RuntimeView } from './runtime-view.ts';
import { StatusWriter } from './status/status-writer.ts';
import { eventSubject } from './worker/events.ts';
import { PodWorker } from './worker/pod-worker.ts';
import type { Records } from './worker/records.ts';

export interface AgentPodsOptions {
  readonly context: ActionContext;
  readonly client: Client;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly recorder: EventRecorder;
  readonly recordsOf: () => Records;
  readonly hostIP: () => string;
  /** Whether the node runs a pod, given those that it runs already. */
  readonly admission: (pod: SeenPod, others: readonly SeenPod[]) => Promise<Admission>;
}

interface Followed {
  readonly worker: PodWorker;
  readonly status: StatusWriter;
}

/** As kubelet evicts when a hard threshold is crossed. */
const EVICTION_GRACE_SECONDS = 1;

export class AgentPods {
  readonly #options: AgentPodsOptions;
  readonly #view: RuntimeView;
  /** By UID. */
  readonly #followed = new Map<string, Followed>();
  /** Admits one pod at a time: each takes resources from the next. */
  #admitting: Promise<unknown> = Promise.resolve();
  #isFollowing = false;

  constructor(options: AgentPodsOptions) {
    this.#options = options;
    const { runtime } = options.context;
    this.#view = new RuntimeView({ runtime, onChange: (uids) => this.#wake(uids) });
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
  evict(pod: SeenPod, message: string): void {
    const reason = 'Evicted';
    this.#options.recorder.event(eventSubject(pod, undefined), 'Warning', reason, message);
    this.#followed.get(pod.metadata.uid ?? '')?.worker.fail({ reason, message, graceSeconds: EVICTION_GRACE_SECONDS });
  }

  /** Takes over what runs, and follows the pods of the API from then on. Rejects when the runtime cannot be listed. */
  async follow(pods: Informer<Pod>): Promise<void> {
    const { signal, log } = this.#options;
    await this.#view.refresh();
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const leave = pods.onChange(({ type, object }) => (type === 'delete' ? this.#remove(object) : this.#put(object)));
    signal.addEventListener('abort', leave, { once: true });
    await pods.synced;
    for (const uid of this.#view.uids()) this.#endOrphan(uid);
    await this.#releaseLeftovers().catch((error: unknown) => {
      log.warn('cannot release volumes that were left behind', { error: String(error) });
    });
  }

  /** Lists the runtime again, since something has changed. */
  refresh(): void {
    if (!this.#isFollowing) return;
    this.#view.refresh().catch((error: unknown) => {
      if (!this.#options.signal.aborted) this.#options.log.warn('cannot list what runs', { error: String(error) });
    });
  }

  async stopped(): Promise<void> {
    await Promise.all([...this.#followed.values()].flatMap(({ worker, status }) => [worker.stop(), status.stopped()]));
  }

  #put(pod: SeenPod): void {
    const uid = pod.metadata.uid ?? '';
    const known = this.#followed.get(uid);
    if (known) {
      known.worker.update(pod);
      known.status.verify(pod);
      return;
    }
    this.#start(uid, pod).worker.wake();
  }

  #remove(pod: SeenPod): void {
    this.#followed.get(pod.metadata.uid ?? '')?.worker.remove();
  }

  #endOrphan(uid: string): void {
    if (this.#followed.has(uid)) return;
    const pod = orphanOf(this.#view.of(uid));
    if (pod) this.#start(uid, pod).worker.remove();
  }

  /** Volumes of pods that are neither in the API nor in the runtime. */
  async #releaseLeftovers(): Promise<void> {
    const { volumes } = this.#options.context;
    for (const uid of await volumes.leftovers()) if (!this.#followed.has(uid)) await volumes.release(uid);
  }

  #start(uid: string, pod: SeenPod): Followed {
    const { context, client, log, signal, recorder, hostIP } = this.#options;
    const worker = new PodWorker(pod, {
      ...{ context, log, view: this.#view, records: this.#options.recordsOf() },
      emit: (about, { type, reason, message, container }) =>
        recorder.event(eventSubject(about, container), type, reason, message),
      admit: (each) => this.#admit(each),
      onStatus: () => this.#report(uid),
    });
    const status = new StatusWriter(worker, {
      ...{ client, log, signal, hostIP, clock: context.clock },
      shownAs: (each) => each,
    });
    const followed = { worker, status };
    this.#followed.set(uid, followed);
    return followed;
  }

  #admit(pod: SeenPod): Promise<PodFailure | undefined> {
    const admitting = this.#admitting.then(async () => {
      const refusal = await this.#refusalOf(pod);
      if (!refusal) return undefined;
      const { reason, message } = refusal;
      this.#options.recorder.event(eventSubject(pod, undefined), 'Warning', reason, message);
      return { reason, message: `Pod was rejected: ${message}`, isRefusal: true };
    });
    this.#admitting = admitting.catch(() => undefined);
    return admitting;
  }

  async #refusalOf(pod: SeenPod): Promise<Refusal | undefined> {
    const { context, admission } = this.#options;
    const unsupported = context.runtime.refusal(pod);
    if (unsupported) return { reason: 'PodFeatureUnsupported', message: unsupported };
    const decision = await admission(pod, this.running());
    switch (decision.type) {
      case 'admitted':
        return undefined;
      case 'refused':
        return decision;
      case 'preempting':
        for (const victim of decision.victims) this.#preempt(victim);
        return undefined;
    }
  }

  /** Ends a pod to make room for a critical one. */
  #preempt(victim: SeenPod): void {
    const { reason, message } = PREEMPTED;
    this.#options.recorder.event(eventSubject(victim, undefined), 'Warning', reason, message);
    this.#followed.get(victim.metadata.uid ?? '')?.worker.fail(PREEMPTED);
  }

  #report(uid: string): void {
    const followed = this.#followed.get(uid);
    if (!followed) return;
    const { worker, status } = followed;
    if (worker.isRemoved && worker.isFinished) this.#forget(uid);
    else status.report();
  }

  #forget(uid: string): void {
    const followed = this.#followed.get(uid);
    this.#followed.delete(uid);
    void followed?.worker.stop();
  }

  #wake(uids: readonly string[]): void {
    for (const uid of uids) {
      const known = this.#followed.get(uid);
      known?.worker.wake();
    }
  }
}
