/** The webhooks of all configurations, in calling order. */
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
import type { Kind, KubeObject } from '../../../../kinds/kind.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import { derivedFrom } from '../../../objects/reads/lookup.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import { RequestMatcher } from '../matching.ts';
import { connectionTo, type WebhookConnection } from './connection.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'random'> & Outbound;

/** A webhook of a configuration. */
export interface RegisteredWebhook<W extends ValidatingWebhook = ValidatingWebhook> {
  /** The name of the configuration. */
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
