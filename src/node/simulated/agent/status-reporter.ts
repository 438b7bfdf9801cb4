/**
 * Writes the status of pods: one write at a time for each pod, with its newest state, and a limited number concurrently. They
 * start in the same turn of the event loop, so that they share a disk flush.
 */

import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly } from '../../../api/object-types.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import type { ClientTools } from '../../../client/client.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { Condition } from '../../pod/conditions.ts';
import { podStatus } from '../../pod/pod-status.ts';
import { type PodStatus, statusPatch } from '../../pod/status-patch.ts';
import type { NodePod } from './node.ts';
import type { TimerQueue, TimerTask } from './timer-queue.ts';

const MAX_CONCURRENT_WRITES = 128;
const RETRY_MS = 1_000;

export interface StatusReporterOptions extends Pick<ClientTools, 'clock' | 'log'> {
  readonly timers: TimerQueue;
  readonly signal: AbortSignal;
}

interface Reported {
  status: PodStatus | undefined;
  /** The pod's resourceVersion after that write. */
  revision: number;
  readonly retry: TimerTask;
}

const NO_RUNS: readonly never[] = Object.freeze([]);

function isReported({ type, status }: Condition, conditions: DeepReadonly<Pod>['status']['conditions']): boolean {
  return conditions?.find((each) => each.type === type)?.status === status;
}

export class StatusReporter {
  readonly #waiting = new Set<NodePod>();
  readonly #writing = new Map<NodePod, Promise<void>>();
  readonly #reported = new WeakMap<NodePod, Reported>();
  #isPumping = false;

  constructor(private readonly options: StatusReporterOptions) {}

  report(nodePod: NodePod): void {
    this.#waiting.add(nodePod);
    this.#pumpSoon();
  }

  /** Writes the status again when another client has overwritten it. */
  verify(nodePod: NodePod): void {
    if (this.#writing.has(nodePod)) return;
    const { metadata, status } = nodePod.life.pod;
    const known = this.#known(nodePod);
    if (known.status && Number(metadata.resourceVersion) <= known.revision) return;
    const { phase, conditions } = known.status ?? this.#statusOf(nodePod, undefined);
    if (status.phase !== phase || conditions.every((own) => isReported(own, status.conditions))) return;
    known.status = undefined;
    this.report(nodePod);
  }

  /** Forgets a pod that was deleted. */
  drop(nodePod: NodePod): void {
    this.#waiting.delete(nodePod);
    const known = this.#reported.get(nodePod);
    if (known) this.options.timers.set(known.retry, undefined);
  }

  async stopped(): Promise<void> {
    this.#waiting.clear();
    await Promise.all(this.#writing.values());
  }

  /** Collects the reports of this turn of the event loop. */
  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.options.signal.aborted) return;
    for (const nodePod of this.#waiting) {
      if (this.#writing.size >= MAX_CONCURRENT_WRITES) return;
      if (this.#writing.has(nodePod)) continue;
      this.#waiting.delete(nodePod);
      const writing = this.#write(nodePod).then((isWritten) => {
        this.#writing.delete(nodePod);
        if (this.#waiting.size > 0) this.#pumpSoon();
        try {
          if (isWritten && !nodePod.life.isTerminated) this.verify(nodePod);
        } catch (error) {
          this.#failed(nodePod, error);
        }
      });
      this.#writing.set(nodePod, writing);
    }
  }

  /** Returns whether the status was written. Never rejects. */
  async #write(nodePod: NodePod): Promise<boolean> {
    const { life, node } = nodePod;
    try {
      if (node.isUp) await this.#writeStatus(nodePod);
      if (node.isUp && life.isTerminated) await this.#remove(nodePod);
      return node.isUp;
    } catch (error) {
      this.#failed(nodePod, error);
      return false;
    }
  }

  async #writeStatus(nodePod: NodePod): Promise<void> {
    const { signal } = this.options;
    const {
      life,
      node: { client },
    } = nodePod;
    const { namespace = '', name = '' } = life.pod.metadata;
    const known = this.#known(nodePod);
    const status = this.#statusOf(nodePod, known.status);
    if (known.status && deepEqual(status, known.status)) return;
    const restarts = life.runs.map((run) => [run.name, run.restarts] as const);
    const isShown = Number(life.pod.metadata.resourceVersion) >= known.revision;
    const changes = statusPatch({ pod: life.pod, status, written: isShown ? undefined : known.status, restarts });
    const written = await client.of(Pod).in(namespace).patchStatus(name, { type: 'strategic', changes }, { signal });
    known.status = status;
    known.revision = Number(written.metadata.resourceVersion);
  }

  #statusOf({ life, node }: NodePod, before: PodStatus | undefined): PodStatus {
    const { pod, phase, hasSandbox, startTime, address, failure } = life;
    // A pod that the node rejected has no containers.
    const runs = failure?.isRejection ? NO_RUNS : life.runs;
    const [disruption, isRestartingAll] = [failure?.disruption, life.state.isRestartingAll];
    const now = this.options.clock.now();
    const hostIP = node.machine.address;
    const conditions = before?.conditions ?? ((pod.status.conditions ?? []) as readonly Condition[]);
    const reasons = { failure, disruption, isRestartingAll };
    return podStatus({ pod, phase, runs, hasSandbox, now, startTime, hostIP, podIP: address, ...reasons }, conditions);
  }

  async #remove({ life, node: { client } }: NodePod): Promise<void> {
    const { signal } = this.options;
    const { namespace = '', name = '', uid = '' } = life.pod.metadata;
    await client.of(Pod).in(namespace).delete(name, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
  }

  #failed(nodePod: NodePod, error: unknown): void {
    const { timers, clock, log, signal } = this.options;
    // The pod is gone, or replaced by another of its name: the informer will tell.
    if (signal.aborted || isApiError(error, 'NotFound', 'Conflict')) return;
    const { namespace, name } = nodePod.life.pod.metadata;
    log.warn('cannot write the status of a pod', { pod: `${namespace}/${name}`, error: String(error) });
    timers.set(this.#known(nodePod).retry, clock.now() + RETRY_MS);
  }

  #known(nodePod: NodePod): Reported {
    return getOrInsert(this.#reported, nodePod, () => {
      const retry: TimerTask = { dueAt: undefined, run: () => this.report(nodePod) };
      return { status: undefined, revision: 0, retry };
    });
  }
}
