import type { Version } from '../../../../kinds/kind.ts';
import type { Access } from '../../../access/ports.ts';
import { rejected } from '../../../objects/admission/rejection.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import { Activation, RequestValues } from '../expressions/activation.ts';
import { ExpressionFailed } from '../expressions/evaluation.ts';
import { matchesConditions } from '../expressions/match-conditions.ts';
import { readOnlyForm } from '../form.ts';
import type { RegisteredWebhook } from './webhooks.ts';

type Ports = Pick<Reader, 'cache' | 'turns'> & Pick<Tools, 'log'> & Pick<Access, 'authorizer'>;

/**
 * Reports whether a request meets the match conditions of a webhook. If they cannot be evaluated, the failure policy
 * decides: Fail rejects the request with a Forbidden, Ignore skips the webhook.
 */
export async function meetsConditions(
  core: Ports,
  request: AdmissionRequest,
  { registered, version }: { readonly registered: RegisteredWebhook; readonly version: Version },
): Promise<boolean> {
  const conditions = registered.conditions();
  if (conditions.length === 0) return true;
  const form = await readOnlyForm(request, version, request.operation === 'CREATE' && !request.object?.metadata.uid);
  const activation = new Activation(new RequestValues({ core, request, form }), null);
  try {
    return await matchesConditions(conditions, activation);
  } catch (error) {
    if (!(error instanceof ExpressionFailed)) throw error;
    const { name, failurePolicy } = registered.webhook;
    if (failurePolicy !== 'Ignore') throw rejected(request, error.message);
    core.log.warn('the match conditions of a webhook failed and it is ignored', { webhook: name, error });
    return false;
  }
}
