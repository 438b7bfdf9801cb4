import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Call } from '../api.ts';
import type { Core } from '../core.ts';

/** A kind whose objects are computed for each request and never stored. */
export interface VirtualResource {
  readonly kind: Kind;
  /** Completes an object that was decoded and validated, such as a review with its verdict. */
  readonly create?: (object: any, core: Core, call: Call) => void | Promise<void>;
  /** Computes the objects for a get or a list. Those that do not match may be left out. */
  readonly all?: (core: Core, query: ObjectQuery) => Promise<readonly KubeObject[]>;
}

/** Which objects a get or a list is for. */
export interface ObjectQuery {
  /** Empty: all namespaces. */
  readonly namespace: string;
  /** Whether an object matches by its name, labels and metadata fields. */
  readonly matches: (object: KubeObject) => boolean;
}
