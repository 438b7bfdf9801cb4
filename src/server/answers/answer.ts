/** Kinds that are answered and never stored: questions about identities and rights, how the control plane is, what is in use. */
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Call } from '../api.ts';
import type { Core } from '../core.ts';

export interface Answer {
  readonly kind: Kind;
  /** Fills in what a question asks for; the object is read and checked, and may be changed. */
  readonly create?: (object: any, core: Core, call: Call) => void | Promise<void>;
  /** What there is now, for gets and lists. What nobody wants may be left out. */
  readonly all?: (core: Core, wanted: Wanted) => Promise<readonly KubeObject[]>;
}

/** What a get or a list is about. */
export interface Wanted {
  /** Empty: all. */
  readonly namespace: string;
  /** By name, labels and fields that every object has. */
  readonly matches: (object: KubeObject) => boolean;
}
