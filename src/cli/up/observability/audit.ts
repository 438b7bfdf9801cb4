/** The audit log and the audit webhook. */
import { join, resolve } from 'node:path';
import { Audit, type Backend } from '../../../server/access/audit/audit.ts';
import { LogFile } from '../../../server/access/audit/log-file.ts';
import { CliError } from '../../output/cli-error.ts';
import type { StartContext } from '../context.ts';
import type { AuditInputs } from './audit-inputs.ts';
import { auditWebhook } from './audit-webhook.ts';

const DAY_MS = 86_400_000;

/** Undefined when nothing is to be recorded. */
export async function openAudit(context: StartContext, { policy, webhook }: AuditInputs): Promise<Audit | undefined> {
  const { settings, cleanup, clock, random } = context;
  const closing = [await openLog(context), webhook && (await auditWebhook(settings, webhook, context))].filter(
    (backend) => backend !== undefined,
  );
  for (const backend of closing) cleanup.add(() => backend.close());
  const backends = settings.auditLogPath === '-' ? [standardOutput, ...closing] : closing;
  return backends.length > 0 ? new Audit({ policy, backends, clock, random }) : undefined;
}

const standardOutput: Backend = { dropped: {}, write: (line) => void process.stdout.write(line) };

/** Undefined when the log is not a file. */
async function openLog({ settings, directory, clock, log }: StartContext): Promise<LogFile | undefined> {
  const { auditLogPath: given } = settings;
  if (given === '' || given === '-') return undefined;
  const file = new LogFile({
    path: given === undefined ? join(directory, 'audit', 'audit.log') : resolve(given),
    maxBytes: settings.auditLogMaxsize * 1024 * 1024,
    maxBackups: settings.auditLogMaxbackup,
    maxAgeMs: settings.auditLogMaxage * DAY_MS,
    clock,
    log,
  });
  await file.open().catch((cause: unknown) => {
    throw new CliError(`the audit log cannot be written: ${(cause as Error).message}`, { cause });
  });
  return file;
}
