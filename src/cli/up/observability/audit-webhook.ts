/** Audit events to another program, from the flags. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Webhook } from '../../../server/audit/webhook.ts';
import * as value from '../../flags/values.ts';
import { CliError } from '../../output/cli-error.ts';

export interface AuditWebhookFlags {
  readonly auditWebhookConfigFile?: string;
  /** Milliseconds. */
  readonly auditWebhookInitialBackoff: number;
  readonly auditWebhookBatchBufferSize: number;
  readonly auditWebhookBatchMaxSize: number;
  /** Milliseconds. */
  readonly auditWebhookBatchMaxWait: number;
  readonly auditWebhookBatchThrottleEnable: boolean;
  readonly auditWebhookBatchThrottleQps: number;
  readonly auditWebhookBatchThrottleBurst: number;
  readonly auditWebhookTruncateEnabled: boolean;
  /** Bytes. */
  readonly auditWebhookTruncateMaxBatchSize: number;
  readonly auditWebhookTruncateMaxEventSize: number;
}

const VERSION = 'audit.k8s.io/v1';

export function withAuditWebhookFlags(command: Command): Command {
  const time = (flag: string, what: string) => new Option(flag, what).argParser(value.duration);
  return command
    .option('--audit-webhook-config-file <file>', 'a kubeconfig that says where events go besides the log')
    .addOption(time('--audit-webhook-initial-backoff <time>', 'the pause before the second try').default(10_000, '10s'))
    .addOption(new Option('--audit-webhook-mode <mode>', 'how events are sent').choices(['batch']).default('batch'))
    .addOption(new Option('--audit-webhook-version <version>', 'their form').choices([VERSION]).default(VERSION))
    .option('--audit-webhook-batch-buffer-size <count>', 'events that wait; more are dropped', positive, 10_000)
    .option('--audit-webhook-batch-max-size <count>', 'events of one batch', positive, 400)
    .addOption(
      time('--audit-webhook-batch-max-wait <time>', 'how long a batch waits for more events').default(30_000, '30s'),
    )
    .option('--audit-webhook-batch-throttle-enable [bool]', 'whether batches are limited', value.flag, true)
    .option('--audit-webhook-batch-throttle-qps <number>', 'batches a second on average', rate, 10)
    .option('--audit-webhook-batch-throttle-burst <count>', 'batches at once after a pause', positive, 15)
    .option('--audit-webhook-truncate-enabled [bool]', 'leave objects out of large events', value.flag, false)
    .option('--audit-webhook-truncate-max-batch-size <bytes>', 'bytes of one batch', positive, 10 * 1024 * 1024)
    .option('--audit-webhook-truncate-max-event-size <bytes>', 'bytes of an event that is large', positive, 100 * 1024);
}

function positive(text: string): number {
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('It must be a number above zero.');
  return Number(text);
}

function rate(text: string): number {
  if (!/^\d{1,6}(\.\d{1,3})?$/.test(text) || Number(text) === 0) {
    throw new InvalidArgumentError('It must be a number above zero.');
  }
  return Number(text);
}

interface Parts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Undefined where no file is given. What is wrong with the file is found at the start. */
export async function auditWebhook(flags: AuditWebhookFlags, parts: Parts): Promise<Webhook | undefined> {
  const { auditWebhookConfigFile: file } = flags;
  if (file === undefined) return undefined;
  const { auditWebhookTruncateMaxBatchSize: maxBatchBytes, auditWebhookTruncateMaxEventSize: large } = flags;
  if (maxBatchBytes < large) {
    throw new CliError('--audit-webhook-truncate-max-batch-size must not be below -max-event-size');
  }
  const [{ connectionOf, loadKubeconfig }, { poster }, { Webhook }] = await Promise.all([
    import('../../../client/kubeconfig/kubeconfig.ts'),
    import('../../../server/webhooks/post.ts'),
    import('../../../server/audit/webhook.ts'),
  ]);
  const { auditWebhookBatchThrottleQps: qps, auditWebhookBatchThrottleBurst: burst } = flags;
  try {
    return new Webhook({
      ...parts,
      post: poster(await connectionOf(await loadKubeconfig([file]))),
      initialBackoff: flags.auditWebhookInitialBackoff,
      bufferSize: flags.auditWebhookBatchBufferSize,
      maxBatchSize: flags.auditWebhookBatchMaxSize,
      maxBatchWait: flags.auditWebhookBatchMaxWait,
      throttle: flags.auditWebhookBatchThrottleEnable ? { qps, burst } : undefined,
      maxEventBytes: flags.auditWebhookTruncateEnabled ? large : undefined,
      maxBatchBytes,
    });
  } catch (cause) {
    throw new CliError(`--audit-webhook-config-file ${file} cannot be used: ${(cause as Error).message}`, { cause });
  }
}
