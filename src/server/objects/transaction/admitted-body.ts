import type { Call } from '../../../api/call.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { StoreConflict } from '../../../store/store.ts';
import type { Admission } from '../admission/request.ts';
import { expectedBody } from '../body/body.ts';
import type { Reader } from '../ports.ts';
import type { ApiRequest } from '../registry/registry.ts';
import type { Writer } from './ports.ts';
import { catchUp } from './retry.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Writer, 'admission'>;

/** A request body that is admitted but not stored: a Binding, an Eviction, a TokenRequest, a review. */
export interface AdmittedBody<T extends KubeObject> {
  /** Reads the body. Called for every attempt. */
  readonly read: () => T;
  /** Checks the body after admission. Throws when it is invalid. */
  readonly check?: (body: T) => void;
  /** Reports whether the request is a dry run. Default: the option of the call. */
  readonly dryRun?: (body: T) => boolean;
}

/**
 * Admits a body and performs the requested action. A transaction inside `perform` receives `admitted`, so that it
 * commits under the conditions of this admission; a conflict about those retries everything. Admission is always
 * settled.
 */
export async function withAdmittedBody<T extends KubeObject, R>(
  core: Ports,
  request: ApiRequest,
  { read, check, dryRun }: AdmittedBody<T>,
  perform: (body: T, admitted: Admission | undefined) => Promise<R> | R,
): Promise<R> {
  for (;;) {
    let body = read();
    const admission = core.admission.open(request, {
      operation: 'CREATE',
      name: request.call.name ?? '',
      object: body,
      old: undefined,
      body: expectedBody(request),
      dryRun: dryRun?.(body) ?? isDryRun(request.call),
    });
    try {
      const admitting = admission?.admit();
      if (admitting) await admitting;
      if (admission) body = admission.object as T;
      check?.(body);
      const validating = admission?.validate();
      if (validating) await validating;
      return await perform(body, admission);
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      await catchUp(core, request, error);
    } finally {
      admission?.settle();
    }
  }
}

/** Reports whether the call is a dry run, which skips only the commit. */
export function isDryRun(call: Call): boolean {
  return (call.options?.dryRun?.length ?? 0) > 0;
}
