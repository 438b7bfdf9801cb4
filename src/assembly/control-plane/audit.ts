/** The audit log and the audit webhook. */
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import { Audit, type Backend } from '../../server/access/audit/audit.ts';
import { LogFile, type LogFileOptions } from '../../server/access/audit/log-file.ts';
import type { Policy } from '../../server/access/audit/policy.ts';
import type { Webhook, WebhookOptions } from '../../server/access/audit/webhook.ts';
import { AssemblyError } from '../assembly-error.ts';
import type { Cleanup } from '../cleanup.ts';
import type { Tools } from '../context.ts';

export interface AuditOptions extends Tools {
  readonly policy: Policy;
  /** The log; undefined: it is not a file. */
  readonly file: Omit<LogFileOptions, keyof Tools> | undefined;
  readonly webhook: (Omit<WebhookOptions, keyof Tools | 'post'> & { readonly connection: Connection }) | undefined;
  /** Writes each event, besides these. */
  readonly write: Backend['write'] | undefined;
  readonly cleanup: Cleanup;
}

/** Undefined when nothing is to be recorded. */
export async function openAudit(options: AuditOptions): Promise<Audit | undefined> {
  const { policy, write, cleanup, clock, random } = options;
  const closing = [await openLog(options), await openWebhook(options)].filter((backend) => backend !== undefined);
  for (const backend of closing) cleanup.add(() => backend.close());
  const backends = write ? [{ dropped: {}, write }, ...closing] : closing;
  return backends.length > 0 ? new Audit({ policy, backends, clock, random }) : undefined;
}

async function openLog({ file, clock, log }: AuditOptions): Promise<LogFile | undefined> {
  if (!file) return undefined;
  const opened = new LogFile({ ...file, clock, log });
  await opened.open().catch((cause: unknown) => {
    throw new AssemblyError(`the audit log cannot be written: ${(cause as Error).message}`, { cause });
  });
  return opened;
}

async function openWebhook({ webhook, clock, random, log }: AuditOptions): Promise<Webhook | undefined> {
  if (!webhook) return undefined;
  const [{ createPost }, { Webhook }] = await Promise.all([
    import('../../server/outbound/webhooks/post.ts'),
    import('../../server/access/audit/webhook.ts'),
  ]);
  const { connection, ...settings } = webhook;
  return new Webhook({ ...settings, clock, random, log, post: createPost(connection) });
}
