import type { ObjectReply, StatusReply } from '../../../api/reply.ts';
import { unstored } from '../../objects/body/body.ts';
import { prepare } from '../../objects/cache/entry/prepare.ts';
import { type MaybeAsync, whenReady } from '../../objects/conversion/convert.ts';
import type { Resource } from '../../objects/registry/registry.ts';
import type { TransactionResult } from '../../objects/transaction/transaction.ts';

/** Returns the object that a transaction stored, or would have stored, in the version of the call. */
export function replyOf(resource: Resource, { entry, object }: TransactionResult): MaybeAsync<ObjectReply> {
  const item = entry ? whenReady(prepare([entry], resource), () => entry.view(resource)) : unstored(resource, object);
  return whenReady(item, (shown): ObjectReply => ({ type: 'object', item: shown }));
}

export function success(details: NonNullable<StatusReply['status']['details']>, message?: string): StatusReply {
  return {
    type: 'status',
    status: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      message: message || undefined,
      details,
      code: 200,
    },
  };
}
