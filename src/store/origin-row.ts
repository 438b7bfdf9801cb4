/**
 * The row with which durable stores keep who asked for a commit. Each commit that has an origin overwrites it: the change of the row at a
 * revision is the origin of that revision. It is an ordinary row, so that earlier releases can read the store, and
 * copies and trimming need no rule for it. Stores hide it from callers.
 */
import type { Origin } from './store.ts';

/** Callers' keys begin with a slash. */
export const ORIGIN_KEY = 'quarterdeck/origin';

/** An origin, and the time of its commit in milliseconds since the epoch. */
export interface TimedOrigin {
  readonly origin: Origin;
  readonly time: number;
}

export function encodeOrigin({ user, client, manager, request, isStatus }: Origin, time: number): Buffer {
  return Buffer.from(JSON.stringify([user, client, manager, request, isStatus ? 1 : 0, time]));
}

/** Returns undefined for a row that something else has written. */
export function decodeOrigin(value: Buffer): TimedOrigin | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(value.toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields) || typeof fields[0] !== 'string') return undefined;
  const [user, client, manager, request, isStatus, time] = fields as unknown[];
  if (typeof time !== 'number' || !Number.isFinite(time)) return undefined;
  const origin = {
    user: user as string,
    client: textOf(client),
    manager: textOf(manager),
    request: textOf(request),
    isStatus: isStatus === 1,
  };
  return { origin, time };
}

const textOf = (field: unknown) => (typeof field === 'string' ? field : undefined);
