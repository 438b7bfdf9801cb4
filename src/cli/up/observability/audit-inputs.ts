/** The policy and the webhook of the audit flags, read and checked before anything is created. */
import { readFile } from 'node:fs/promises';
import { fileProblem } from '../../../base/files/file-problem.ts';
import type { Connection } from '../../../client/kubeconfig/kubeconfig.ts';
import { defaultPolicy, type Policy, PolicyError, parsePolicy } from '../../../server/access/audit/policy.ts';
import { namedKubeconfig } from '../../flags/named-kubeconfig.ts';
import { CliError } from '../../output/cli-error.ts';
import { checkWritableFile } from '../../process/writable.ts';
import type { AuditFlags } from './flags.ts';

export interface AuditInputs {
  readonly policy: Policy;
  readonly webhook: Connection | undefined;
}

/** Rejects when a file cannot be used, or flags do not go together. */
export async function readAuditInputs(settings: AuditFlags): Promise<AuditInputs> {
  const { auditPolicyFile: file, auditLogPath: path } = settings;
  const webhook = await auditWebhookConnection(settings);
  if (file !== undefined && path === '' && !webhook) {
    throw new CliError('--audit-policy-file needs an audit log or a webhook, and --audit-log-path is empty');
  }
  if (path !== undefined && path !== '' && path !== '-') await checkWritableFile('--audit-log-path', path);
  return { policy: file === undefined ? defaultPolicy : await readPolicy(file), webhook };
}

async function readPolicy(file: string): Promise<Policy> {
  try {
    const text = await readFile(file, 'utf8');
    const { parse } = await import('yaml');
    return parsePolicy(parse(text));
  } catch (cause) {
    const what = cause instanceof PolicyError ? 'is not an audit policy' : 'cannot be read';
    throw new CliError(`--audit-policy-file ${file} ${what}: ${fileProblem(cause)}`, { cause });
  }
}

/** Reads the kubeconfig of the webhook. Undefined when none is given. */
async function auditWebhookConnection(settings: AuditFlags): Promise<Connection | undefined> {
  const { auditWebhookConfigFile: file } = settings;
  if (file === undefined) return undefined;
  if (settings.auditWebhookTruncateMaxBatchSize < settings.auditWebhookTruncateMaxEventSize) {
    throw new CliError(
      '--audit-webhook-truncate-max-batch-size must not be less than --audit-webhook-truncate-max-event-size',
    );
  }
  return namedKubeconfig('--audit-webhook-config-file', file);
}
