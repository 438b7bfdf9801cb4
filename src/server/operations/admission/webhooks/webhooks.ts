import type { Compiled } from '../../../../kinds/groups/extension/admissionregistration/expressions/compile.ts';
import { compileMatchCondition } from '../../../../kinds/groups/extension/admissionregistration/expressions/policy-compiler.ts';
import {
  type MutatingWebhook,
  MutatingWebhookConfiguration,
} from '../../../../kinds/groups/extension/admissionregistration/mutating-webhook-configuration.ts';
import {
  type ValidatingWebhook,
  ValidatingWebhookConfiguration,
} from '../../../../kinds/groups/extension/admissionregistration/validating-webhook-configuration.ts';
import type { Kind, KubeObject, Version } from '../../../../kinds/kind.ts';
import type { Access } from '../../../access/ports.ts';
import { type AdmissionRequest, rejected } from '../../../objects/admission/request.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import { derivedFrom } from '../../../objects/reads/lookup.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import { Activation, RequestValues } from '../expressions/activation.ts';
import { ExpressionFailed, matchesConditions } from '../expressions/evaluation.ts';
import { readOnlyForm } from '../form.ts';
import { RequestMatcher } from '../matching.ts';
import { connectionTo, type WebhookConnection } from './connection.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'random'> & Outbound;

export interface RegisteredWebhook<W extends ValidatingWebhook = ValidatingWebhook> {
  readonly configuration: string;
  readonly webhook: W;
  readonly matcher: RequestMatcher;
  /** Returns the match conditions, compiled on first use. */
  conditions(): readonly Compiled[];
  /** Returns the connection, created with the first call and kept. */
  connection(core: Ports): WebhookConnection;
}

const byName = (a: KubeObject, b: KubeObject) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

function webhooksOf<W extends ValidatingWebhook, T extends KubeObject & { webhooks?: W[] }>(kind: Kind<T>) {
  return derivedFrom(kind, (configurations): readonly RegisteredWebhook<W>[] =>
    configurations
      .toSorted(byName)
      .flatMap(({ metadata, webhooks = [] }) => webhooks.map((webhook) => registered(metadata.name ?? '', webhook))),
  );
}

function registered<W extends ValidatingWebhook>(configuration: string, webhook: W): RegisteredWebhook<W> {
  let connection: WebhookConnection | undefined;
  let conditions: readonly Compiled[] | undefined;
  return {
    configuration,
    webhook,
    matcher: new RequestMatcher({ ...webhook, rules: webhook.rules ?? [] }),
    conditions() {
      conditions ??= webhook.matchConditions?.map(({ expression }) => compileMatchCondition(expression, false)) ?? [];
      return conditions;
    },
    connection(core) {
      connection ??= connectionTo(core, webhook.clientConfig, webhook.timeoutSeconds);
      return connection;
    },
  };
}

export const validatingWebhooks = webhooksOf<ValidatingWebhook, ValidatingWebhookConfiguration>(
  ValidatingWebhookConfiguration,
);

export const mutatingWebhooks = webhooksOf<MutatingWebhook, MutatingWebhookConfiguration>(MutatingWebhookConfiguration);

/** Reports whether webhooks do not apply to a kind: they must never prevent the repair of webhooks and policies. */
export function isExempt({ group, plural }: Kind): boolean {
  return group === 'admissionregistration.k8s.io' && plural !== '';
}

type ConditionPorts = Pick<Reader, 'cache' | 'turns'> & Pick<Tools, 'log'> & Pick<Access, 'authorizer'>;

/**
 * Reports whether a request meets the match conditions of a webhook. If they cannot be evaluated, the failure policy
 * decides: Fail rejects the request with a Forbidden, Ignore skips the webhook.
 */
export async function meetsConditions(
  core: ConditionPorts,
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
