/** The webhook that audit events are sent to. */

import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { Connection } from '../../../client/kubeconfig/kubeconfig.ts';
import type { Webhook } from '../../../server/access/audit/webhook.ts';
import { namedKubeconfig } from '../../flags/named-kubeconfig.ts';
import { CliError } from '../../output/cli-error.ts';
import type { AuditFlags } from './flags.ts';

interface WebhookDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Reads the kubeconfig of the webhook. Undefined when none is given. */
export async function auditWebhookConnection(settings: AuditFlags): Promise<Connection | undefined> {
  const { auditWebhookConfigFile: file } = settings;
  if (file === undefined) return undefined;
  if (settings.auditWebhookTruncateMaxBatchSize < settings.auditWebhookTruncateMaxEventSize) {
    throw new CliError(
      '--audit-webhook-truncate-max-batch-size must not be less than --audit-webhook-truncate-max-event-size',
    );
  }
  return namedKubeconfig('--audit-webhook-config-file', file);
}

export async function auditWebhook(
  settings: AuditFlags,
  connection: Connection,
  dependencies: WebhookDependencies,
): Promise<Webhook> {
  const [{ createPost }, { Webhook }] = await Promise.all([
    import('../../../server/outbound/webhooks/post.ts'),
    import('../../../server/access/audit/webhook.ts'),
  ]);
  const { auditWebhookBatchThrottleQps: qps, auditWebhookBatchThrottleBurst: burst } = settings;
  return new Webhook({
    ...dependencies,
    post: createPost(connection),
    initialBackoffMs: settings.auditWebhookInitialBackoff,
    bufferSize: settings.auditWebhookBatchBufferSize,
    maxBatchSize: settings.auditWebhookBatchMaxSize,
    maxBatchWaitMs: settings.auditWebhookBatchMaxWait,
    throttle: settings.auditWebhookBatchThrottleEnable ? { qps, burst } : undefined,
    maxEventBytes: settings.auditWebhookTruncateEnabled ? settings.auditWebhookTruncateMaxEventSize : undefined,
    maxBatchBytes: settings.auditWebhookTruncateMaxBatchSize,
  });
}
