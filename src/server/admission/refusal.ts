import { type ApiError, forbidden } from '../../base/errors.ts';
import type { AdmissionRequest } from './plugin.ts';

/** 403, with the name that the client knows: a name that is still to be made up is named by its beginning. */
export function refused(request: AdmissionRequest, why: string): ApiError {
  return forbidden(request.kind, nameOf(request), why);
}

export function nameOf({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.generateName || object?.metadata.name || 'Unknown';
}
