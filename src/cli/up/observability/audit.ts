/** The audit log and the audit webhook. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Audit, type Backend } from '../../../server/audit/audit.ts';
import { defaultPolicy } from '../../../server/audit/default-policy.ts';
import { LogFile } from '../../../server/audit/log-file.ts';
import { type Policy, PolicyError, parsePolicy } from '../../../server/audit/policy.ts';
import { CliError } from '../../output/cli-error.ts';
import type { StartContext } from '../context.ts';
import { auditWebhook } from './audit-webhook.ts';

const DAY_MS = 86_400_000;

/** Undefined when nothing is to be recorded. */
export async function openAudit(context: StartContext): Promise<Audit | undefined> {
  const { settings, cleanup, clock, random } = context;
  const { auditPolicyFile: file } = settings;
  const policy = file === undefined ? defaultPolicy : await readPolicy(file);
  const closing = [await openLog(context), await auditWebhook(settings, context)].filter(
    (backend) => backend !== undefined,
  );
  for (const backend of closing) cleanup.add(() => backend.close());
  const backends = settings.auditLogPath === '-' ? [standardOutput, ...closing] : closing;
  if (backends.length > 0) return new Audit({ policy, backends, clock, random });
  if (file === undefined) return undefined;
  throw new CliError('--audit-policy-file needs an audit log or a webhook, and --audit-log-path is empty');
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

async function readPolicy(file: string): Promise<Policy> {
  try {
    const text = await readFile(file, 'utf8');
    const { parse } = await import('yaml');
    return parsePolicy(parse(text));
  } catch (cause) {
    const what = cause instanceof PolicyError ? 'is not an audit policy' : 'cannot be read';
    throw new CliError(`--audit-policy-file ${file} ${what}: ${(cause as Error).message}`, { cause });
  }
}
