import type { ObjectReply, StatusReply } from '../api.ts';
import { unstored } from '../objects/unstored.ts';
import type { Resource } from '../registry.ts';
import type { Outcome } from '../transaction/transaction.ts';

/** The object that a transaction stored, or would have stored, in the version of the call. */
export function replyOf(resource: Resource, { entry, object }: Outcome): ObjectReply {
  return { type: 'object', item: entry ? entry.view(resource) : unstored(resource, object) };
}

/** A Status that says that something was done. */
export function success(details: NonNullable<StatusReply['status']['details']>, message?: string): StatusReply {
  return {
    type: 'status',
    status: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      ...(message ? { message } : {}),
      details,
      code: 200,
    },
  };
}
