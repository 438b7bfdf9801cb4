/** Writes why a pod waits, and for which node: only what has changed, a few at a time, and of one pod the newest alone. */

import type { Clock } from '../base/clock.ts';
import { isApiError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { timestamp } from '../base/timestamp.ts';
import type { Client } from '../client/client.ts';
import { Pod as PodKind } from '../kinds/groups/core/pod/pod.ts';
import type { Pod } from './objects.ts';

/** Why a pod waits. */
export interface Waiting {
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
}

interface Wanted {
  readonly pod: Pod;
  readonly waiting: Waiting | undefined;
  /** Undefined: as it is. */
  readonly nominatedNode: string | undefined;
}

export interface StatusWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const AT_ONCE = 16;

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  readonly #wanted = new Map<string, Wanted>();
  readonly #writing = new Set<string>();

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /** Takes note and returns at once; without `waiting`, of the node alone. */
  write(wanted: Wanted): void {
    this.#wanted.set(wanted.pod.metadata.uid ?? '', wanted);
    this.#next();
  }

  #next(): void {
    for (const [uid, wanted] of this.#wanted) {
      if (this.#writing.size >= AT_ONCE || this.#options.signal.aborted) return;
      if (this.#writing.has(uid)) continue;
      this.#wanted.delete(uid);
      const changes = changesOf(wanted, this.#options.clock.now());
      if (!changes) continue;
      this.#writing.add(uid);
      this.#patch(wanted.pod, changes)
        .catch((error: unknown) => this.#complain(wanted.pod, error))
        .finally(() => {
          this.#writing.delete(uid);
          this.#next();
        });
    }
  }

  async #patch({ metadata }: Pod, status: object): Promise<void> {
    const { client, signal } = this.#options;
    const pods = client.of(PodKind).in(metadata.namespace);
    const changes = { metadata: { uid: metadata.uid }, status };
    await pods.patchStatus(metadata.name ?? '', { type: 'strategic', changes }, { signal });
  }

  #complain({ metadata }: Pod, error: unknown): void {
    if (this.#options.signal.aborted || isApiError(error, 'NotFound', 'Conflict')) return;
    const { namespace, name } = metadata;
    this.#options.log.warn('the status of a waiting pod could not be written', { namespace, name, error });
  }
}

/** Does the pod's own condition say it already? */
export function isSaid(pod: Pod, { reason, message }: Waiting): boolean {
  const said = scheduledCondition(pod);
  return said?.status === 'False' && said.reason === reason && said.message === message;
}

function scheduledCondition({ status }: Pod) {
  return status.conditions?.find(({ type }) => type === 'PodScheduled');
}

function changesOf({ pod, waiting, nominatedNode }: Wanted, now: number): object | undefined {
  const { status } = pod;
  const before = scheduledCondition(pod);
  const isSame = !waiting || isSaid(pod, waiting);
  const isSameNode = nominatedNode === undefined || nominatedNode === (status.nominatedNodeName ?? '');
  if (isSame && isSameNode) return undefined;
  const since = before?.status === 'False' ? before.lastTransitionTime : undefined;
  const condition = { type: 'PodScheduled', status: 'False', lastTransitionTime: since ?? timestamp(now), ...waiting };
  return {
    ...(isSame ? {} : { conditions: [condition] }),
    ...(isSameNode ? {} : { nominatedNodeName: nominatedNode || null }),
  };
}
