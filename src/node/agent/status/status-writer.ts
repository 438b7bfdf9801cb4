/**
 * Brings the status of pods in the API to what the agent reports: after each report, after each change of the pod in the API
 * by any client, and every ten seconds. A status that the API shows already is not written.
 */

import { isLostRace } from '../../../api/errors.ts';
import { ReconcileLoop } from '../../../base/reconcile/reconcile-loop.ts';
import type { BackoffOptions } from '../../../base/time/backoff.ts';
import type { Timer } from '../../../base/time/clock.ts';
import type { ClientTools } from '../../../client/client.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Condition } from '../../pod/conditions.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { podReport } from '../../pod/plan/report.ts';
import { podStatus } from '../../pod/pod-status.ts';
import { type PodStatus, showsStatus, statusPatch } from '../../pod/status-patch.ts';
import type { PodWorker } from '../worker/pod-worker.ts';
import { CorrectionPace } from './correction-pace.ts';

export interface StatusWriterOptions extends ClientTools {
  readonly signal: AbortSignal;
  readonly hostIP: () => string;
  /** Describes missing isolation of containers, and ignored requests of the pod, as sentences. */
  readonly limitation: (pod: SeenPod) => string | undefined;
  /** The pod in the API that shows the status; for a static pod, its mirror. Undefined: there is none now. */
  readonly shownAs: (pod: SeenPod) => SeenPod | undefined;
}

const CHECK_MS = 10_000;
const RETRY: BackoffOptions = { base: 1_000, max: CHECK_MS };
/** Concurrent writes. */
const WORKERS = 16;
/** Time after which the cache is believed although it is older than the answer to a write: the store was restored. */
const ANSWER_MS = 30_000;

/** State of a pod after a turn of its worker. Between two turns, it may be one that is not to be shown. */
interface Reported {
  readonly report: ReturnType<typeof podReport>;
  readonly restarts: readonly (readonly [name: string, restarts: number])[];
  readonly isFinished: boolean;
}

interface Entry {
  readonly worker: PodWorker;
  readonly pace: CorrectionPace;
  reported: Reported;
  /** The pod as the API returned it for the last write, until the cache shows it. */
  answer: { readonly pod: SeenPod; readonly until: number } | undefined;
  /** UID of the pod in the API that was deleted, and may be there still because of a finalizer. */
  deleted: string | undefined;
}

export class StatusWriter {
  readonly #loop: ReconcileLoop;
  readonly #entries = new Map<string, Entry>();
  #running: Promise<void> | undefined;
  #timer: Timer | undefined;

  constructor(private readonly options: StatusWriterOptions) {
    const { clock, random, log } = options;
    this.#loop = new ReconcileLoop({
      clock,
      random,
      log,
      workers: WORKERS,
      backoff: RETRY,
      failure: 'cannot write the status of a pod',
      // The pod is gone, or replaced by another of its name: the informer will tell.
      isExpected: isLostRace,
      reconcile: (key) => this.#reconcile(key),
    });
  }

  /** Begins to write, until the signal. */
  start(): void {
    if (this.#running) return;
    this.#running = this.#loop.run(this.options.signal);
    this.#checkAll();
  }

  /** A turn of the worker has ended with a state that is to be shown. */
  report(worker: PodWorker): void {
    const { state, pod, isFinished } = worker;
    if (!state) return;
    const report = podReport(pod, state, this.options.clock.now());
    const restarts = state.containers.map((each) => [each.name, each.restarts] as const);
    const reported = { report, restarts, isFinished };
    const key = keyOf(pod);
    const known = this.#entries.get(key);
    if (known) known.reported = reported;
    else {
      const pace = new CorrectionPace();
      this.#entries.set(key, { worker, pace, reported, answer: undefined, deleted: undefined });
    }
    this.#loop.add(key);
  }

  /** The API shows another version of the pod. */
  check({ pod }: PodWorker): void {
    this.#loop.add(keyOf(pod));
  }

  /** Nothing is reported of the pod any more. */
  forget({ pod }: PodWorker): void {
    this.#entries.delete(keyOf(pod));
  }

  /** Resolves after the signal, when nothing is in progress. */
  async stopped(): Promise<void> {
    this.#timer?.cancel();
    await this.#running;
  }

  #checkAll(): void {
    const { clock, signal } = this.options;
    if (signal.aborted) return;
    for (const key of this.#entries.keys()) this.#loop.add(key);
    this.#timer = clock.timer(CHECK_MS, () => this.#checkAll());
  }

  async #reconcile(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    const shown = entry && this.#newest(entry);
    if (!shown) return;
    const { isFinished } = entry.reported;
    const status = this.#statusOf(entry.reported, shown);
    const isShown = showsStatus(shown, status);
    const waitMs = isShown ? 0 : entry.pace.waitMs(status, this.options.clock.now());
    if (!isShown && waitMs === 0) await this.#write(entry, shown, status);
    if (isFinished) await this.#delete(entry, shown);
    // The answer to a write may show what another client has written meanwhile.
    else if (!isShown) this.#loop.addAfter(key, waitMs);
  }

  /** Returns the newest known version of the pod in the API. */
  #newest(entry: Entry): SeenPod | undefined {
    const { clock, shownAs } = this.options;
    const { worker, answer } = entry;
    const shown = worker.isRemoved ? undefined : shownAs(worker.pod);
    if (!shown || !answer) return shown;
    const isSame = answer.pod.metadata.uid === shown.metadata.uid;
    if (isSame && versionOf(answer.pod) > versionOf(shown) && clock.now() < answer.until) return answer.pod;
    entry.answer = undefined;
    return shown;
  }

  #statusOf({ report }: Reported, { status }: SeenPod): PodStatus {
    const { clock, hostIP, limitation } = this.options;
    const pod = { ...report.pod, status };
    const current = { ...report, pod, now: clock.now(), hostIP: hostIP(), limitation: limitation(pod) };
    return podStatus(current, (status.conditions ?? []) as readonly Condition[]);
  }

  async #write(entry: Entry, shown: SeenPod, status: PodStatus): Promise<void> {
    const { client, clock, signal } = this.options;
    const { namespace = '', name = '' } = shown.metadata;
    const { restarts } = entry.reported;
    const changes = statusPatch({ pod: shown, status, written: undefined, restarts });
    const answer = await client.of(Pod).in(namespace).patchStatus(name, { type: 'strategic', changes }, { signal });
    const now = clock.now();
    entry.pace.wrote(status, now);
    entry.answer = { pod: answer, until: now + ANSWER_MS };
  }

  async #delete(entry: Entry, { metadata: { namespace = '', name = '', uid = '' } }: SeenPod): Promise<void> {
    if (entry.deleted === uid) return;
    const { client, signal } = this.options;
    const pods = client.of(Pod).in(namespace);
    await pods.delete(name, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
    entry.deleted = uid;
  }
}

const versionOf = ({ metadata }: SeenPod) => Number(metadata.resourceVersion);

const keyOf = ({ metadata: { namespace, name, uid } }: SeenPod) => `${namespace}/${name} ${uid}`;
