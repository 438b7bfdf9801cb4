/** Writes the status of one pod: one write at a time, with its newest state. */

import { isApiError } from '../../../api/errors.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import type { Logger } from '../../../base/log.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { Client } from '../../../client/client.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Condition } from '../../pod/conditions.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { podReport } from '../../pod/plan/report.ts';
import { podStatus } from '../../pod/pod-status.ts';
import { type PodStatus, statusPatch } from '../../pod/status-patch.ts';
import type { PodWorker } from '../worker/pod-worker.ts';

export interface StatusWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly hostIP: () => string;
  /** Describes missing isolation of containers, and ignored requests of the pod, as sentences. */
  readonly limitation: (pod: SeenPod) => string | undefined;
  /** The pod in the API that shows the status; for a static pod, its mirror. Undefined: there is none now. */
  readonly shownAs: (pod: SeenPod) => SeenPod | undefined;
}

const RETRY_MS = 1_000;

export class StatusWriter {
  readonly #worker: PodWorker;
  readonly #options: StatusWriterOptions;
  #written: { readonly status: PodStatus; readonly uid: string; readonly revision: number } | undefined;
  #writing: Promise<void> | undefined;
  #isAgain = false;
  #retry: Timer | undefined;

  constructor(worker: PodWorker, options: StatusWriterOptions) {
    this.#worker = worker;
    this.#options = options;
  }

  /** Writes the status if it has changed. */
  report(): void {
    this.#isAgain = true;
    this.#writing ??= this.#writeAll();
  }

  /** Writes the status again when another client has overwritten it. */
  verify({ metadata, status: { phase, conditions = [] } }: SeenPod): void {
    const written = this.#written;
    if (!written || this.#writing || Number(metadata.resourceVersion) <= written.revision) return;
    const isShown = ({ type, status }: Condition) =>
      conditions.some((shown) => shown.type === type && shown.status === status);
    if (phase === written.status.phase && written.status.conditions.every(isShown)) return;
    this.#written = undefined;
    this.report();
  }

  async stopped(): Promise<void> {
    this.#retry?.cancel();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { clock, log, signal } = this.#options;
    while (this.#isAgain && !signal.aborted) {
      this.#isAgain = false;
      this.#retry?.cancel();
      const { pod } = this.#worker;
      try {
        await this.#write();
      } catch (error) {
        // The pod is gone, or replaced by another of its name: the informer will tell.
        if (signal.aborted || isApiError(error, 'NotFound', 'Conflict')) continue;
        const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
        log.warn('cannot write the status of a pod', { pod: name, error: String(error) });
        this.#retry = clock.timer(RETRY_MS, () => this.report());
      }
    }
    // At once, and not when the promise has settled: what is reported in between would not be noticed.
    this.#writing = undefined;
  }

  async #write(): Promise<void> {
    const { state, pod, isRemoved, isFinished } = this.#worker;
    const shown = isRemoved ? undefined : this.#options.shownAs(pod);
    if (!state || !shown) return;
    await this.#writeStatus(shown, this.#statusOf(shown));
    if (isFinished) await this.#delete(shown);
  }

  #statusOf(shown: SeenPod): PodStatus {
    const { clock, hostIP } = this.#options;
    const { state, pod } = this.#worker;
    const before = this.#written?.status.conditions ?? ((shown.status.conditions ?? []) as readonly Condition[]);
    const report = podReport({ ...pod, status: shown.status }, state!, clock.now());
    return podStatus({ ...report, hostIP: hostIP(), limitation: this.#options.limitation(pod) }, before);
  }

  async #writeStatus(pod: SeenPod, status: PodStatus): Promise<void> {
    const { client, signal } = this.#options;
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    const written = this.#written?.uid === uid ? this.#written : undefined;
    if (written && deepEqual(status, written.status)) return;
    const restarts = this.#worker.state?.containers.map((each) => [each.name, each.restarts] as const) ?? [];
    const isShown = !written || Number(pod.metadata.resourceVersion) >= written.revision;
    const changes = statusPatch({ pod, status, written: isShown ? undefined : written.status, restarts });
    const answer = await client.of(Pod).in(namespace).patchStatus(name, { type: 'strategic', changes }, { signal });
    this.#written = { status, uid, revision: Number(answer.metadata.resourceVersion) };
  }

  async #delete({ metadata: { namespace = '', name = '', uid = '' } }: SeenPod): Promise<void> {
    const { client, signal } = this.#options;
    const pods = client.of(Pod).in(namespace);
    await pods.delete(name, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
  }
}
