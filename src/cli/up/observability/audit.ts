/** Audit options from the flags. */
import { join, resolve } from 'node:path';
import type { AuditOptions } from '../../../assembly/control-plane/audit.ts';
import type { AuditInputs } from './audit-inputs.ts';
import type { AuditFlags } from './flags.ts';

const DAY_MS = 86_400_000;

/** `directory` is the data directory of the cluster. */
export function auditOptions(
  flags: AuditFlags,
  { policy, webhook }: AuditInputs,
  directory: string,
): Pick<AuditOptions, 'policy' | 'file' | 'webhook' | 'write'> {
  return {
    policy,
    file: logFile(flags, directory),
    webhook: webhook && { connection: webhook, ...webhookSettings(flags) },
    write: flags.auditLogPath === '-' ? (line) => void process.stdout.write(line) : undefined,
  };
}

/** Undefined when the log is not a file. */
function logFile(flags: AuditFlags, directory: string): AuditOptions['file'] {
  const { auditLogPath: given } = flags;
  if (given === '' || given === '-') return undefined;
  return {
    path: given === undefined ? join(directory, 'audit', 'audit.log') : resolve(given),
    maxBytes: flags.auditLogMaxsize * 1024 * 1024,
    maxBackups: flags.auditLogMaxbackup,
    maxAgeMs: flags.auditLogMaxage * DAY_MS,
  };
}

function webhookSettings(flags: AuditFlags) {
  const { auditWebhookBatchThrottleQps: qps, auditWebhookBatchThrottleBurst: burst } = flags;
  return {
    initialBackoffMs: flags.auditWebhookInitialBackoff,
    bufferSize: flags.auditWebhookBatchBufferSize,
    maxBatchSize: flags.auditWebhookBatchMaxSize,
    maxBatchWaitMs: flags.auditWebhookBatchMaxWait,
    throttle: flags.auditWebhookBatchThrottleEnable ? { qps, burst } : undefined,
    maxEventBytes: flags.auditWebhookTruncateEnabled ? flags.auditWebhookTruncateMaxEventSize : undefined,
    maxBatchBytes: flags.auditWebhookTruncateMaxBatchSize,
  };
}
