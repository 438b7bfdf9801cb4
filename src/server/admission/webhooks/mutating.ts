import { ApiError } from '../../../base/errors.ts';
import { deepEqual } from '../../../base/tree.ts';
import type { MutatingWebhook } from '../../../kinds/groups/admissionregistration/mutating-webhook-configuration.ts';
import type { KubeObject, Version } from '../../../kinds/kind.ts';
import { applyJsonPatch } from '../../../schema/json-patch.ts';
import { PatchError } from '../../../schema/patch-error.ts';
import type { Core } from '../../core.ts';
import { type AdmittedForm, formOf, fromForm } from '../form.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { AdmissionRequest } from '../request.ts';
import { ask, CallFailed, failedClosed } from './ask.ts';
import { isExempt, mutatingWebhooks, type RegisteredWebhook } from './webhooks.ts';

type Registered = RegisteredWebhook<MutatingWebhook>;

const MUTATION = 'mutation.webhook.admission.k8s.io';
const FAILED_OPEN = 'failed-open.mutating.webhook.admission.k8s.io';

/** What the first round of a request leaves for the second. */
interface FirstRound {
  /** Webhooks that want to see what others changed after them. */
  readonly asked: Set<Registered>;
  /** Those of them after which something was changed. */
  readonly again: Set<Registered>;
  /** The object as the webhooks left it. */
  object: KubeObject | undefined;
}

const firstRounds = new WeakMap<AdmissionRequest, FirstRound>();

/** Asks mutating webhooks, one after the other, and applies their patches. */
export const mutatingAdmissionWebhook: AdmissionPlugin = {
  name: 'MutatingAdmissionWebhook',
  // A patched object is decoded with the schema of its version, which fills in the defaults.
  keepsDefaults: true,
  handles: (kind) => !isExempt(kind),

  admit(core, request) {
    const webhooks = mutatingWebhooks(core);
    if (webhooks.length === 0) return undefined;
    const round = roundOf(request);
    for (const [index, registered] of webhooks.entries()) {
      if (wants(core, request, round, registered)) return askFrom(core, request, webhooks, index);
    }
    return undefined;
  },
};

function roundOf(request: AdmissionRequest): FirstRound {
  const known = firstRounds.get(request);
  if (!known) {
    const round: FirstRound = { asked: new Set(), again: new Set(), object: undefined };
    firstRounds.set(request, round);
    return round;
  }
  // Plugins of the server changed the object after the webhooks had seen it.
  if (request.isReinvocation && !deepEqual(known.object, request.object)) requireAgain(known);
  return known;
}

function requireAgain({ asked, again }: FirstRound): void {
  for (const registered of asked) again.add(registered);
  asked.clear();
}

/** The version in which to ask a webhook. The second round asks only those of the first that need to see more. */
function wants(core: Core, request: AdmissionRequest, round: FirstRound, registered: Registered): Version | undefined {
  if (request.isReinvocation && !round.again.has(registered)) return undefined;
  return registered.matcher.versionFor(core, request);
}

async function askFrom(
  core: Core,
  request: AdmissionRequest,
  webhooks: readonly Registered[],
  start: number,
): Promise<void> {
  const round = firstRounds.get(request)!;
  for (let index = start; index < webhooks.length; index++) {
    const registered = webhooks[index]!;
    const version = wants(core, request, round, registered);
    if (!version) continue;
    const isChanged = await askOne(core, request, { registered, version, index });
    if (isChanged) {
      requireAgain(round);
      request.reinvoke();
    }
    if (registered.webhook.reinvocationPolicy === 'IfNeeded') round.asked.add(registered);
  }
  round.object = request.object && structuredClone(request.object);
}

interface Turn {
  readonly registered: Registered;
  readonly version: Version;
  readonly index: number;
}

/** Whether the webhook changed the object. */
async function askOne(core: Core, request: AdmissionRequest, { registered, version, index }: Turn): Promise<boolean> {
  const { webhook, configuration } = registered;
  const place = `round_${request.isReinvocation ? 1 : 0}_index_${index}`;
  const form = await formOf(request, version, request.operation === 'CREATE');
  let isChanged = false;
  try {
    const { patch } = await ask(core, registered, { request, form, mayPatch: true });
    if (patch !== undefined) isChanged = await applyTo(request, registered, form, patch);
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
    return JSON.parse(Buffer.from(patch, 'base64').toString());
  } catch (error) {
    const problem = `received undecodable patch in webhook response: ${(error as Error).message}`;
    throw new CallFailed(name, problem, error);
  }
}

const internalError = (message: string) => new ApiError('InternalError', `Internal error occurred: ${message}`);
