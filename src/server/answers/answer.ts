/** Kinds that are answered and never stored: questions about identities and rights, and how the control plane is. */
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Call } from '../api.ts';
import type { Core } from '../core.ts';

export interface Answer {
  readonly kind: Kind;
  /** Fills in what a question asks for; the object is read and checked, and may be changed. */
  readonly create?: (object: any, core: Core, call: Call) => void | Promise<void>;
  /** What there is now, for gets and lists. */
  readonly all?: (core: Core) => Promise<readonly KubeObject[]>;
}
