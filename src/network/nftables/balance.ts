import type { Destination } from '../rules/rule-set.ts';
import type { Part } from './part.ts';

/** Traffic to the cluster IP; to external addresses from this node and its pods; and from elsewhere, when it stays on this node. */
type Role = 'internal' | 'inside' | 'outside';

/** Sets up the distribution of connections over endpoints. */
export type Balance = (
  role: Role,
  endpoints: readonly Destination[],
) => { readonly chain: string; readonly parts: readonly Part[] };
