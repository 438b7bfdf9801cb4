/** Writes the PodScheduled condition and the nominated node: of each pod only the newest change. */

import { isApiError } from '../api/errors.ts';
import { withoutUndefined } from '../base/json/tree.ts';
import { timestamp } from '../base/time/timestamp.ts';
import type { ClientTools } from '../client/client.ts';
import { Pod as PodKind } from '../kinds/groups/core/pod/pod.ts';
import type { Pod } from './objects.ts';

/** Why a pod is not scheduled. */
export interface Waiting {
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
}

interface StatusUpdate {
  readonly pod: Pod;
  readonly waiting: Waiting | undefined;
  readonly nominatedNode: string | undefined;
}

export interface StatusWriterOptions extends Omit<ClientTools, 'random'> {
  readonly signal: AbortSignal;
}

const MAX_CONCURRENT_WRITES = 16;

export class StatusWriter {
  readonly #wanted = new Map<string, StatusUpdate>();
  readonly #writing = new Set<string>();

  constructor(private readonly options: StatusWriterOptions) {}

  /** Queues the write and returns at once; without `waiting`, only the node is written. */
  write(wanted: StatusUpdate): void {
    this.#wanted.set(wanted.pod.metadata.uid ?? '', wanted);
    this.#next();
  }

  #next(): void {
    for (const [uid, wanted] of this.#wanted) {
      if (this.#writing.size >= MAX_CONCURRENT_WRITES || this.options.signal.aborted) return;
      if (this.#writing.has(uid)) continue;
      this.#wanted.delete(uid);
      const changes = changesOf(wanted, this.options.clock.now());
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
    const { client, signal } = this.options;
    const pods = client.of(PodKind).in(metadata.namespace);
    const changes = { metadata: { uid: metadata.uid }, status };
    await pods.patchStatus(metadata.name ?? '', { type: 'strategic', changes }, { signal });
  }

  #complain({ metadata }: Pod, error: unknown): void {
    if (this.options.signal.aborted || isApiError(error, 'NotFound', 'Conflict')) return;
    const { namespace, name } = metadata;
    this.options.log.warn('cannot write the status of a waiting pod', { namespace, name, error });
  }
}

/** Reports whether the pod's condition already says so. */
export function isReported(pod: Pod, { reason, message }: Waiting): boolean {
  const said = scheduledCondition(pod);
  return said?.status === 'False' && said.reason === reason && said.message === message;
}

function scheduledCondition({ status }: Pod) {
  return status.conditions?.find(({ type }) => type === 'PodScheduled');
}

function changesOf({ pod, waiting, nominatedNode }: StatusUpdate, now: number): object | undefined {
  const { status } = pod;
  const before = scheduledCondition(pod);
  const isSame = !waiting || isReported(pod, waiting);
  const isSameNode = nominatedNode === undefined || nominatedNode === (status.nominatedNodeName ?? '');
  if (isSame && isSameNode) return undefined;
  const since = before?.status === 'False' ? before.lastTransitionTime : undefined;
  const { generation } = pod.metadata;
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    lastTransitionTime: since ?? timestamp(now),
    ...waiting,
    ...(generation ? { observedGeneration: generation } : {}),
  };
  return withoutUndefined({
    conditions: isSame ? undefined : [condition],
    nominatedNodeName: isSameNode ? undefined : nominatedNode || null,
  });
}
