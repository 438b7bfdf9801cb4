/** The audit log, from the flags. */
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { Audit, type Backend } from '../../../server/audit/audit.ts';
import { defaultPolicy } from '../../../server/audit/default-policy.ts';
import { LogFile } from '../../../server/audit/log-file.ts';
import { type Policy, PolicyError, parsePolicy } from '../../../server/audit/policy.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Cleanup } from '../../process/cleanup.ts';
import { type AuditWebhookFlags, auditWebhook, withAuditWebhookFlags } from './audit-webhook.ts';

export interface AuditFlags extends AuditWebhookFlags {
  readonly auditPolicyFile?: string;
  readonly auditLogPath?: string;
  /** Days. */
  readonly auditLogMaxage: number;
  readonly auditLogMaxbackup: number;
  /** Megabytes. */
  readonly auditLogMaxsize: number;
}

export function withAuditFlags(command: Command): Command {
  return withAuditWebhookFlags(command)
    .option('--audit-policy-file <file>', 'which requests the audit log notes, and how much of each')
    .option('--audit-log-path <file>', 'where it goes; -: standard output, "": nowhere (default: DIR/audit/audit.log)')
    .option('--audit-log-maxage <days>', 'how long older files are kept; 0: for good', whole, 30)
    .option('--audit-log-maxbackup <count>', 'how many older files are kept; 0: all', whole, 10)
    .option('--audit-log-maxsize <megabytes>', 'when a file is full', positive, 100)
    .addOption(new Option('--audit-log-format <format>', 'how events are written').choices(['json']).default('json'));
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function positive(text: string): number {
  const value = whole(text);
  if (value === 0) throw new InvalidArgumentError('It must be above zero.');
  return value;
}

interface AuditSite {
  readonly flags: AuditFlags;
  /** The cluster's own. */
  readonly directory: string;
  readonly cleanup: Cleanup;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const DAY = 86_400_000;

/** Undefined where nothing is to be noted. */
export async function openAudit(site: AuditSite): Promise<Audit | undefined> {
  const { flags, cleanup, clock, random } = site;
  const { auditPolicyFile: file } = flags;
  const policy = file === undefined ? defaultPolicy : await readPolicy(file);
  const closing = [await openLog(site), await auditWebhook(flags, site)].filter((backend) => backend !== undefined);
  for (const backend of closing) cleanup.add(() => backend.close());
  const backends = flags.auditLogPath === '-' ? [standardOutput, ...closing] : closing;
  if (backends.length > 0) return new Audit({ policy, backends, clock, random });
  if (file === undefined) return undefined;
  throw new CliError('--audit-policy-file has no use without a log or a webhook: --audit-log-path is empty');
}

const standardOutput: Backend = { lost: {}, write: (line) => void process.stdout.write(line) };

/** Undefined where the log is no file. */
async function openLog({ flags, directory, clock, log }: AuditSite): Promise<LogFile | undefined> {
  const { auditLogPath: given } = flags;
  if (given === '' || given === '-') return undefined;
  const file = new LogFile({
    path: given === undefined ? join(directory, 'audit', 'audit.log') : resolve(given),
    maxSize: flags.auditLogMaxsize * 1024 * 1024,
    maxBackups: flags.auditLogMaxbackup,
    maxAge: flags.auditLogMaxage * DAY,
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
    const what = cause instanceof PolicyError ? 'is not a policy' : 'cannot be read';
    throw new CliError(`--audit-policy-file ${file} ${what}: ${(cause as Error).message}`, { cause });
  }
}
