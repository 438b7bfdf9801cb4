import { ApiError } from '../../../../api/errors.ts';
import { deepEqual } from '../../../../base/json/tree.ts';
import type { MutatingWebhook } from '../../../../kinds/groups/extension/admissionregistration/mutating-webhook-configuration.ts';
import type { Version } from '../../../../kinds/kind.ts';
import { applyJsonPatch } from '../../../../schema/patch/json-patch.ts';
import { PatchError } from '../../../../schema/patch/patch-error.ts';
import type { Access } from '../../../access/ports.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { Writer } from '../../../objects/transaction/ports.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import { parseAnswer } from '../../../outbound/webhooks/post.ts';
import { type AdmittedForm, formOf, fromForm } from '../form.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { type FirstRound, Rounds } from '../reinvocation.ts';
import { ask, CallFailed, failedClosed } from './ask.ts';
import { isExempt, meetsConditions, mutatingWebhooks, type RegisteredWebhook } from './webhooks.ts';

type Ports = Pick<Reader, 'cache' | 'turns'> & Pick<Writer, 'stages'> & Tools & Pick<Access, 'authorizer'> & Outbound;

type Registered = RegisteredWebhook<MutatingWebhook>;

const MUTATION = 'mutation.webhook.admission.k8s.io';
const FAILED_OPEN = 'failed-open.mutating.webhook.admission.k8s.io';

const rounds = new Rounds<Registered>();

/** Calls mutating webhooks, one after the other, and applies their patches. */
export const mutatingAdmissionWebhook: AdmissionPlugin = {
  name: 'MutatingAdmissionWebhook',
  // A patched object is decoded with the schema of its version, which fills in the defaults.
  keepsDefaults: true,
  handles: (kind) => !isExempt(kind),

  admit(core, request) {
    const webhooks = mutatingWebhooks(core);
    if (webhooks.length === 0) return undefined;
    const round = rounds.of(request);
    for (const [index, registered] of webhooks.entries()) {
      if (wants(core, request, round, registered)) return askFrom(core, request, { webhooks, round, start: index });
    }
    return undefined;
  },
};

/** Returns the version for a webhook call. The second round calls only those that need to see later changes. */
function wants(
  core: Ports,
  request: AdmissionRequest,
  round: FirstRound<Registered>,
  registered: Registered,
): Version | undefined {
  return round.includes(registered, request) ? registered.matcher.versionFor(core, request) : undefined;
}

interface Questions {
  readonly webhooks: readonly Registered[];
  readonly round: FirstRound<Registered>;
  readonly start: number;
}

async function askFrom(core: Ports, request: AdmissionRequest, { webhooks, round, start }: Questions): Promise<void> {
  for (let index = start; index < webhooks.length; index++) {
    const registered = webhooks[index]!;
    const version = wants(core, request, round, registered);
    if (!version || !(await meetsConditions(core, request, { registered, version }))) continue;
    const isChanged = await askOne(core, request, { registered, version, index });
    if (isChanged) round.changed(request);
    if (registered.webhook.reinvocationPolicy === 'IfNeeded') round.asked(registered);
  }
  round.ended(request);
}

interface Turn {
  readonly registered: Registered;
  readonly version: Version;
  readonly index: number;
}

/** Calls one webhook, and returns whether it changed the object. */
async function askOne(core: Ports, request: AdmissionRequest, { registered, version, index }: Turn): Promise<boolean> {
  const { webhook, configuration } = registered;
  const place = `round_${request.isReinvocation ? 1 : 0}_index_${index}`;
  const form = await formOf(request, version, request.operation === 'CREATE');
  let isChanged = false;
  try {
    const { patch } = await ask(core, registered, { request, form, mayPatch: true });
    if (patch !== undefined) {
      const pause = core.stages.pause();
      if (pause) await pause;
      isChanged = await applyTo(request, registered, form, patch);
    }
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    if (webhook.failurePolicy !== 'Ignore') throw failedClosed(error);
    core.log.warn('a mutating webhook failed and is ignored', { webhook: webhook.name, error });
    request.annotate(`${FAILED_OPEN}/${place}`, webhook.name);
  } finally {
    const mutation = { configuration, webhook: webhook.name, mutated: isChanged };
    request.annotate(`${MUTATION}/${place}`, JSON.stringify(mutation));
  }
  return isChanged;
}

async function applyTo(
  request: AdmissionRequest,
  { webhook }: Registered,
  { object, version }: AdmittedForm,
  patch: string,
): Promise<boolean> {
  const operations = decodePatch(webhook.name, patch);
  if (Array.isArray(operations) && operations.length === 0) return false;
  if (!object || request.operation === 'CONNECT') {
    const problem = 'attempted to modify the object, which is not supported for this operation';
    throw internalError(`admission webhook ${JSON.stringify(webhook.name)} ${problem}`);
  }
  let patched: unknown;
  try {
    patched = applyJsonPatch(object, operations);
  } catch (error) {
    throw error instanceof PatchError ? internalError(error.redacted) : error;
  }
  if (deepEqual(patched, object)) return false;
  request.replace(await fromForm(request, version, patched));
  return true;
}

function decodePatch(name: string, patch: string): unknown {
  try {
    return parseAnswer(Buffer.from(patch, 'base64').toString());
  } catch (error) {
    const problem = `received undecodable patch in webhook response: ${(error as Error).message}`;
    throw new CallFailed(name, problem, error);
  }
}

const internalError = (message: string) => new ApiError('InternalError', `Internal error occurred: ${message}`);
