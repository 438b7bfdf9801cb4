/**
 * Everything that operations and admission plugins may be given. Each declares the ports that it uses: a plugin that only looks
 * objects up takes a `Reader`.
 */
import type { Store } from '../../store/store.ts';
import type { Access } from '../access/ports.ts';
import type { Reader, Tools } from '../objects/ports.ts';
import type { ListBodies } from '../objects/reads/list-bodies.ts';
import type { Watches } from '../objects/reads/watches.ts';
import type { Writer } from '../objects/transaction/ports.ts';
import type { Outbound } from '../outbound/ports.ts';

/** Lists and watches of clients. */
export interface Streams {
  readonly watches: Watches;
  /** Encoded lists that were requested recently. */
  readonly lists: ListBodies;
  /** How long a watch runs without `timeoutSeconds`: at least this long, and up to twice as long. */
  readonly minWatchMs: number;
}

/** The store itself, for its health. */
export interface Storage {
  readonly store: Pick<Store, 'get' | 'revision'>;
}

/** Explanations of the scheduler. */
export interface Scheduling {
  /** Explains the scheduling of a pod; undefined when the scheduler does not know the pod yet. */
  readonly explainPod: (namespace: string, name: string) => object | undefined;
}

/** What every admission plugin may be given. */
export type PluginPorts = Reader & Tools & Access & Outbound & Pick<Writer, 'commits' | 'stages'>;

/** What every verb and subresource may be given. */
export type OperationPorts = PluginPorts & Writer & Streams & Storage & Scheduling;
