/** The webhook that audit events are sent to. */
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Webhook } from '../../../server/audit/webhook.ts';
import { CliError } from '../../output/cli-error.ts';
import type { AuditFlags } from './flags.ts';

interface WebhookDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Undefined when no kubeconfig is given. An invalid one is an error at startup. */
export async function auditWebhook(
  settings: AuditFlags,
  dependencies: WebhookDependencies,
): Promise<Webhook | undefined> {
  const { auditWebhookConfigFile: file } = settings;
  if (file === undefined) return undefined;
  const { auditWebhookTruncateMaxBatchSize: maxBatchBytes, auditWebhookTruncateMaxEventSize: large } = settings;
  if (maxBatchBytes < large) {
    throw new CliError(
      '--audit-webhook-truncate-max-batch-size must not be less than --audit-webhook-truncate-max-event-size',
    );
  }
  const [{ connectionOf, loadKubeconfig }, { createPost }, { Webhook }] = await Promise.all([
    import('../../../client/kubeconfig/kubeconfig.ts'),
    import('../../../server/webhooks/post.ts'),
    import('../../../server/audit/webhook.ts'),
  ]);
  const { auditWebhookBatchThrottleQps: qps, auditWebhookBatchThrottleBurst: burst } = settings;
  try {
    return new Webhook({
      ...dependencies,
      post: createPost(await connectionOf(await loadKubeconfig([file]))),
      initialBackoffMs: settings.auditWebhookInitialBackoff,
      bufferSize: settings.auditWebhookBatchBufferSize,
      maxBatchSize: settings.auditWebhookBatchMaxSize,
      maxBatchWaitMs: settings.auditWebhookBatchMaxWait,
      throttle: settings.auditWebhookBatchThrottleEnable ? { qps, burst } : undefined,
      maxEventBytes: settings.auditWebhookTruncateEnabled ? large : undefined,
      maxBatchBytes,
    });
  } catch (cause) {
    throw new CliError(`--audit-webhook-config-file ${file} cannot be used: ${(cause as Error).message}`, { cause });
  }
}
