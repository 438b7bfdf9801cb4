import type { Kind } from '../../kinds/kind.ts';
import type { CallOptions } from '../api.ts';

/** How many objects of a kind there are; in all namespaces where none is named. */
export type Count = (kind: Kind, namespace: string) => number;

const OBJECTS_PER_SEAT = 100;
const MOST = 10;

interface Asked {
  readonly verb: string;
  readonly kind: Kind;
  readonly namespace: string;
  /** Of the one object that is wanted, if it is one. */
  readonly name: string;
  readonly options: CallOptions;
}

/** How many seats a request takes: a list of many objects is more work than one object. */
export function seatsFor({ verb, kind, namespace, name, options }: Asked, count: Count): number {
  if ((verb !== 'list' && verb !== 'watch') || name !== '') return 1;
  const { resourceVersion, sendInitialEvents, limit, labelSelector, fieldSelector } = options;
  // A watch that starts at a version sends nothing at first.
  if (verb === 'watch' && !sendInitialEvents && resourceVersion && resourceVersion !== '0') return 1;
  const stored = count(kind, namespace);
  // To find some, all are looked at.
  const seen = limit && !labelSelector && !fieldSelector ? Math.min(limit, stored) : stored;
  return Math.max(1, Math.min(MOST, Math.ceil(seen / OBJECTS_PER_SEAT)));
}
