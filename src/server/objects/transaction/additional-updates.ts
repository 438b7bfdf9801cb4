import { RequestNotes } from '../../../api/request-notes.ts';
import type { AdditionalUpdate } from '../admission/request.ts';
import type { ApiRequest } from '../registry/api-request.ts';
import type { ObjectDraft } from './draft.ts';
import type { Update } from './mutation.ts';
import { draftUpdate, finishUpdate } from './mutations/update.ts';
import type { TransactionPorts } from './ports.ts';

/** Drafts the objects that admission updates together with the written one. They are not admitted themselves. */
export function draftAdditionalUpdates(
  core: TransactionPorts,
  { call }: ApiRequest,
  updates: readonly AdditionalUpdate[],
): ObjectDraft[] {
  return updates.map(({ kind, current, part, object }) => {
    const { namespace, name } = current.at;
    const { apiVersion } = kind.hub;
    const request: ApiRequest = {
      resource: { kind, version: kind.hub },
      call: {
        verb: 'patch',
        apiVersion,
        plural: kind.plural,
        namespace,
        name,
        subresource: part === 'status' ? 'status' : undefined,
        user: call.user,
      },
      notes: new RequestNotes(),
    };
    const update: Update = { type: 'update', part, next: () => object };
    const draft = draftUpdate(core, request, update, { current, object });
    finishUpdate(core, draft, update);
    return draft;
  });
}
