import type { CallOptions } from '../../../../api/call.ts';
import type { Attributes, Authorizer } from '../../../access/authz/authorizer.ts';
import { requireAccess } from '../../../access/authz/forbidden-error.ts';
import type { Route } from '../route/route.ts';
import type { RequestLifecycle } from './request-lifecycle.ts';

export type Admit = (
  lifecycle: RequestLifecycle,
  attributes: Attributes,
  route?: Route,
  options?: CallOptions,
) => Promise<void> | undefined;

/** Performs audit, flow control and authorization, in this order. Returns undefined when all were synchronous. */
export function admitStage({ authorizer }: { readonly authorizer: Authorizer }): Admit {
  return (lifecycle, attributes, route, options) => {
    lifecycle.audit(attributes, route, options);
    const waiting = lifecycle.takeSeat();
    return waiting ? waiting.then(() => authorize(lifecycle)) : authorize(lifecycle);
  };

  function authorize({ attributes, record }: RequestLifecycle): Promise<void> | undefined {
    return requireAccess(authorizer, attributes, record);
  }
}
