/** The origin of a commit, by which history says who changed an object. */
import type { Call } from '../../../api/call.ts';
import type { Origin } from '../../../store/store.ts';
import { managerOf } from '../managed-fields/manager-name.ts';

/** The user agent of the server itself, and of components in its process, which send none. */
const OWN_CLIENT = 'quarterdeck';
const MAX_CLIENT_LENGTH = 256;

export function originOf(call: Call, isStatus = false): Origin {
  const { user, userAgent = OWN_CLIENT, requestId } = call;
  return {
    user: user.name,
    client: userAgent.length > MAX_CLIENT_LENGTH ? userAgent.slice(0, MAX_CLIENT_LENGTH) : userAgent,
    manager: managerOf(call),
    request: requestId,
    isStatus,
  };
}
