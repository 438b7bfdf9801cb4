import { type ApiError, forbidden } from '../../../api/errors.ts';
import type { AdmissionRequest } from './request.ts';

/** Creates a 403 with the reason. An object whose name is not generated yet is named by its prefix. */
export function rejected(request: AdmissionRequest, why: string): ApiError {
  return forbidden(request.kind, nameOf(request), why);
}

export function nameOf({ name, object }: AdmissionRequest): string {
  return name || object?.metadata.generateName || object?.metadata.name || 'Unknown';
}
