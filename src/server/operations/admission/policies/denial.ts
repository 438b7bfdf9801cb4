/** Errors for requests that a policy rejects. */
import { ApiError, type Reason, type Status } from '../../../../api/errors.ts';
import { nameOf, rejected } from '../../../objects/admission/rejection.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';

/** A decision against a request. */
export interface Denial {
  readonly policy: string;
  /** The binding; undefined when the policy itself cannot be evaluated. */
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason?: Reason | undefined;
}

/** Creates the error of the first ValidatingAdmissionPolicy that rejects a request. */
export function validationDenied(request: AdmissionRequest, { policy, binding, message, reason }: Denial): ApiError {
  const by = binding === undefined ? '' : ` with binding '${binding}'`;
  const why = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${message}`;
  const { message: text, details } = rejected(request, why);
  return new ApiError(reason ?? 'Invalid', text, { details: { ...details, causes: [{ message: why }] } });
}

/** Creates the error of MutatingAdmissionPolicies that could not be evaluated. */
export function mutationDenied(request: AdmissionRequest, denials: readonly Denial[]): ApiError {
  const causes = denials.map(({ policy, binding, message }) => ({
    message:
      binding === undefined
        ? `policy ${JSON.stringify(policy)} denied request: ${message}`
        : `policy '${policy}' with binding '${binding}' denied request: ${message}`,
  }));
  return new MutationDenied(denials[0]!.reason ?? 'Forbidden', causes[0]!.message, {
    details: { ...rejected(request, nameOf(request)).details, causes },
  });
}

/** An error with the code of Forbidden, whatever its reason. */
class MutationDenied extends ApiError {
  override get code(): number {
    return 403;
  }

  override toStatus(): Status {
    return { ...super.toStatus(), code: this.code };
  }
}
