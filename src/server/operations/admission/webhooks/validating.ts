import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import { MutatingWebhookConfiguration } from '../../../../kinds/groups/extension/admissionregistration/mutating-webhook-configuration.ts';
import { ValidatingWebhookConfiguration } from '../../../../kinds/groups/extension/admissionregistration/validating-webhook-configuration.ts';
import type { Kind, Version } from '../../../../kinds/kind.ts';
import type { Access } from '../../../access/ports.ts';
import type { AdmissionOperation, AdmissionRequest } from '../../../objects/admission/request.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { Writer } from '../../../objects/transaction/ports.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import { warnOfOtherVersions } from '../exact-match.ts';
import { type AdmittedForm, formOf } from '../form.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { ask, CallFailed, failedClosed } from './ask.ts';
import { isExempt, meetsConditions, type RegisteredWebhook, validatingWebhooks } from './webhooks.ts';

type Ports = Reader & Pick<Writer, 'stages'> & Tools & Pick<Access, 'authorizer'> & Outbound;

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io';

interface Match {
  readonly registered: RegisteredWebhook;
  readonly version: Version;
}

/** Calls validating webhooks, all at the same time. */
export const validatingAdmissionWebhook: AdmissionPlugin = {
  name: 'ValidatingAdmissionWebhook',
  handles: (kind, operation, subresource) => !isExempt(kind) || isWritten(kind, operation, subresource),

  validate(core, request) {
    if (isExempt(request.kind)) return noteMatchPolicy(core, request);
    const webhooks = validatingWebhooks(core);
    if (webhooks.length === 0) return undefined;
    const matches = webhooks.flatMap((registered): Match[] => {
      const version = registered.matcher.versionFor(core, request);
      return version ? [{ registered, version }] : [];
    });
    return matches.length === 0 ? undefined : askAll(core, request, matches);
  },
};

/** Reports whether a webhook configuration is being written. These are sent to no webhook; their authors are warned. */
function isWritten(kind: Kind, operation: AdmissionOperation, subresource: string | undefined): boolean {
  const isConfiguration = kind === ValidatingWebhookConfiguration || kind === MutatingWebhookConfiguration;
  return isConfiguration && !subresource && (operation === 'CREATE' || operation === 'UPDATE');
}

function noteMatchPolicy({ registry }: Ports, request: AdmissionRequest): void {
  const { webhooks = [] } = request.object as ValidatingWebhookConfiguration | MutatingWebhookConfiguration;
  const criteria = webhooks.map(({ matchPolicy, rules }, index) => ({
    field: `webhooks[${index}]`,
    matchPolicy,
    rules,
  }));
  warnOfOtherVersions(registry.kinds, criteria, request);
}

/** Waits for all webhooks, and rejects with the error of the first one in order. */
async function askAll(core: Ports, request: AdmissionRequest, matches: readonly Match[]): Promise<void> {
  const forms = new Map<Version, Promise<AdmittedForm>>();
  const formIn = (version: Version) => getOrInsert(forms, version, () => formOf(request, version, false));
  const asked = matches.map(async ({ registered, version }, index) => {
    if (!(await meetsConditions(core, request, { registered, version }))) return;
    const form = await formIn(version);
    try {
      await ask(core, registered, { request, form, mayPatch: false });
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      if (registered.webhook.failurePolicy !== 'Ignore') throw failedClosed(error);
      core.log.warn('a validating webhook failed and is ignored', { webhook: registered.webhook.name, error });
      request.annotate(`${FAILED_OPEN}/round_0_index_${index}`, registered.webhook.name);
    }
  });
  for (const result of await Promise.allSettled(asked)) if (result.status === 'rejected') throw result.reason;
}
