/** The webhook that audit events are sent to. */

import type { Connection } from '../../../client/kubeconfig/kubeconfig.ts';
import { namedKubeconfig } from '../../flags/named-kubeconfig.ts';
import { CliError } from '../../output/cli-error.ts';
import type { AuditFlags } from './flags.ts';

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
