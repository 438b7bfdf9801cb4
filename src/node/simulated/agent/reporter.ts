/**
 * Writes what became of pods: one write for each at a time, so that the newest state wins, and a bounded number together,
 * begun in one turn of the loop so that they share a flush of the disk.
 */
import type { Clock } from '../../../base/clock.ts';
import { isApiError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import { deepEqual } from '../../../base/tree.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { restartAnnotations } from '../../../kinds/groups/core/pod/restart-counts.ts';
import { CONDITION_TYPES, type Condition } from '../../pod/conditions.ts';
import { podStatus } from '../../pod/pod-status.ts';
import type { Agenda, Sleeper } from './agenda.ts';
import type { Resident } from './pods.ts';

const AT_ONCE = 128;
/** Milliseconds until a write is tried again. */
const RETRY = 1_000;

export interface ReporterOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly agenda: Agenda;
  readonly signal: AbortSignal;
}

type Status = ReturnType<typeof podStatus>;

interface Reported {
  status: Status | undefined;
  /** Of the pod as it was after that. */
  revision: number;
  readonly retry: Sleeper;
}

const ORDER = CONDITION_TYPES.map((type) => ({ type }));

/** Conditions are merged: the reason of what held before goes only when it is taken away. */
const whole = (condition: Condition) => ({ reason: null, message: null, ...condition });

function isSaid({ type, status }: Condition, conditions: DeepReadonly<Pod>['status']['conditions']): boolean {
  return conditions?.find((each) => each.type === type)?.status === status;
}

export class Reporter {
  readonly #options: ReporterOptions;
  readonly #waiting = new Set<Resident>();
  readonly #writing = new Map<Resident, Promise<void>>();
  readonly #reported = new WeakMap<Resident, Reported>();
  #isPumping = false;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  report(resident: Resident): void {
    this.#waiting.add(resident);
    this.#pumpSoon();
  }

  /** Somebody else may have written about the pod: if that is not what we know of it, it is said again. */
  compare(resident: Resident): void {
    if (this.#writing.has(resident)) return;
    const { metadata, status } = resident.life.pod;
    const known = this.#known(resident);
    if (known.status && Number(metadata.resourceVersion) <= known.revision) return;
    const { phase, conditions } = known.status ?? this.#statusOf(resident, undefined);
    if (status.phase !== phase || conditions.every((ours) => isSaid(ours, status.conditions))) return;
    known.status = undefined;
    this.report(resident);
  }

  /** The pod is gone: what was to be said of it is of no interest. */
  drop(resident: Resident): void {
    this.#waiting.delete(resident);
    const known = this.#reported.get(resident);
    if (known) this.#options.agenda.set(known.retry, undefined);
  }

  async stopped(): Promise<void> {
    this.#waiting.clear();
    await Promise.all(this.#writing.values());
  }

  /** What one turn of the loop brought is written together. */
  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#options.signal.aborted) return;
    for (const resident of this.#waiting) {
      if (this.#writing.size >= AT_ONCE) return;
      if (this.#writing.has(resident)) continue;
      this.#waiting.delete(resident);
      const writing = this.#write(resident).then((isWritten) => {
        this.#writing.delete(resident);
        if (isWritten && !resident.life.isGone) this.compare(resident);
        if (this.#waiting.size > 0) this.#pumpSoon();
      });
      this.#writing.set(resident, writing);
    }
  }

  /** Whether it could be written. It never fails. */
  async #write(resident: Resident): Promise<boolean> {
    const { life, node } = resident;
    try {
      if (node.isUp) await this.#writeStatus(resident);
      if (node.isUp && life.isGone) await this.#remove(resident);
      return node.isUp;
    } catch (error) {
      this.#failed(resident, error);
      return false;
    }
  }

  async #writeStatus(resident: Resident): Promise<void> {
    const { signal } = this.#options;
    const {
      life,
      node: { client },
    } = resident;
    const { namespace = '', name = '', uid } = life.pod.metadata;
    const known = this.#known(resident);
    const status = this.#statusOf(resident, known.status);
    if (known.status && deepEqual(status, known.status)) return;
    const annotations = restartAnnotations(life.runs.map((run) => [run.name, run.restarts]));
    const changes = {
      metadata: { uid, ...(annotations ? { annotations } : {}) },
      status: { ...status, conditions: status.conditions.map(whole), '$setElementOrder/conditions': ORDER },
    };
    const written = await client.of(Pod).in(namespace).patchStatus(name, { type: 'strategic', changes }, { signal });
    known.status = status;
    known.revision = Number(written.metadata.resourceVersion);
  }

  #statusOf({ life, node }: Resident, before: Status | undefined): Status {
    const { pod, phase, runs, sandbox, startTime, address, verdict } = life;
    const now = this.#options.clock.now();
    const hostIP = node.machine.address;
    const conditions = before?.conditions ?? ((pod.status.conditions ?? []) as readonly Condition[]);
    return podStatus({ pod, phase, runs, sandbox, now, startTime, hostIP, podIP: address, verdict }, conditions);
  }

  async #remove({ life, node: { client } }: Resident): Promise<void> {
    const { signal } = this.#options;
    const { namespace = '', name = '', uid = '' } = life.pod.metadata;
    await client.of(Pod).in(namespace).delete(name, { gracePeriodSeconds: 0, preconditions: { uid }, signal });
  }

  #failed(resident: Resident, error: unknown): void {
    const { agenda, clock, log, signal } = this.#options;
    // It is not there any more, or another is in its place: the informer will say so.
    if (signal.aborted || isApiError(error, 'NotFound', 'Conflict')) return;
    const { namespace, name } = resident.life.pod.metadata;
    log.warn('a pod cannot be reported', { pod: `${namespace}/${name}`, error: String(error) });
    agenda.set(this.#known(resident).retry, clock.now() + RETRY);
  }

  #known(resident: Resident): Reported {
    const known = this.#reported.get(resident);
    if (known) return known;
    const retry: Sleeper = { wakesAt: undefined, wake: () => this.report(resident) };
    const fresh: Reported = { status: undefined, revision: 0, retry };
    this.#reported.set(resident, fresh);
    return fresh;
  }
}
