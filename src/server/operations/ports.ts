/**
 * All ports of operations and admission plugins. Each declares the ports that it uses: a plugin that only looks objects
 * up takes a `Reader`.
 */

import type { Reply } from '../../api/reply.ts';
import type { Archive } from '../../store/archive/archive.ts';
import type { Store } from '../../store/store.ts';
import type { Access } from '../access/ports.ts';
import type { Reader, Tools } from '../objects/ports.ts';
import type { ListBodies } from '../objects/reads/list-bodies.ts';
import type { Watches } from '../objects/reads/watches.ts';
import type { ApiRequest } from '../objects/registry/registry.ts';
import type { Writer } from '../objects/transaction/ports.ts';
import type { DraftPorts } from '../objects/transaction/several.ts';
import type { Outbound } from '../outbound/ports.ts';

export interface Streams {
  readonly watches: Watches;
  /** Encoded lists that were requested recently. */
  readonly lists: ListBodies;
  /** Minimum duration of a watch without `timeoutSeconds`, which runs up to twice as long. */
  readonly minWatchMs: number;
}

/** The store itself, for health checks. */
export interface Storage {
  readonly store: Pick<Store, 'get' | 'revision'>;
}

export interface Scheduling {
  /** Explains the scheduling of a pod; undefined when the scheduler does not know the pod yet. */
  readonly explainPod: (namespace: string, name: string) => object | undefined;
}

export interface History {
  /** Past states: those on disk, or those in memory if the store keeps none. */
  readonly archive: Archive;
  /** Creates ports on which several writes are drafted that are committed together. */
  readonly drafts: () => DraftPorts;
}

export type PluginPorts = Reader & Tools & Access & Outbound & Pick<Writer, 'commits' | 'stages'>;

export type OperationPorts = PluginPorts & Writer & Streams & Storage & Scheduling & History;

/** Implements a verb or a subresource. */
export type Operation<R extends Reply = Reply> = (core: OperationPorts, request: ApiRequest) => Promise<R>;
