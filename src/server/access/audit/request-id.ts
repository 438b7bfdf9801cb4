import type { Random } from '../../../base/random.ts';
import type { AuditedRequest } from './event.ts';

/** Pattern of an `Audit-ID` that may be taken over from a client. */
const ACCEPTABLE_ID = /^[\x21-\x7e]{1,64}$/;

/** Returns the ID of a request: that of the client if it sends one, so that both sides' logs can be correlated. */
export function requestIdOf({ headers }: Pick<AuditedRequest, 'headers'>, random: Pick<Random, 'uuid'>): string {
  const given = headers['audit-id'];
  return typeof given === 'string' && ACCEPTABLE_ID.test(given) ? given : random.uuid();
}
