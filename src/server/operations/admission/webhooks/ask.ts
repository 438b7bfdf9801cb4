import { ApiError, type Status } from '../../../../api/errors.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { Writer } from '../../../objects/transaction/ports.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import type { AdmittedForm } from '../form.ts';
import { type RejectionStatus, reviewOf, reviewVersion, shortened, type Verdict, verdictOf } from './review.ts';
import type { RegisteredWebhook } from './webhooks.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Writer, 'stages'> & Pick<Tools, 'clock' | 'random'> & Outbound;

/** A webhook that could not be called, or whose response is invalid: its failure policy decides about the request. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';

  constructor(webhook: string, problem: string, cause?: unknown) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${shortened(problem)}`, { cause });
  }
}

export interface Question {
  readonly request: AdmissionRequest;
  readonly form: AdmittedForm;
  /** True when the response may change the object. */
  readonly mayPatch: boolean;
}

/** Resolves when the request is allowed. Rejects with an ApiError when it is not, and with CallFailed. */
export async function ask(core: Ports, registered: RegisteredWebhook, question: Question): Promise<Verdict> {
  const { name, admissionReviewVersions } = registered.webhook;
  const { request, form, mayPatch } = question;
  const version = reviewVersion(admissionReviewVersions);
  if (!version) throw new CallFailed(name, 'webhook does not accept known AdmissionReview versions (v1, v1beta1)');
  const identity = { uid: core.random.uuid(), version };
  const text = await send(core, registered, JSON.stringify(reviewOf(request, form, identity)));
  // Parsing a response may take long, and several may have arrived at a time.
  const pause = core.stages.pause();
  if (pause) await pause;
  let verdict: Verdict;
  try {
    verdict = verdictOf(text, identity, mayPatch);
  } catch (error) {
    throw new CallFailed(name, `received invalid webhook response: ${(error as Error).message}`, error);
  }
  for (const [key, value] of Object.entries(verdict.auditAnnotations)) request.annotate(`${name}/${key}`, value);
  for (const warning of verdict.warnings) request.warn(warning);
  if (!verdict.allowed) throw new Rejection(name, verdict.result);
  return verdict;
}

async function send(core: Ports, registered: RegisteredWebhook, json: string): Promise<string> {
  const { name, timeoutSeconds } = registered.webhook;
  const { url, post } = registered.connection(core);
  const timeout = new AbortController();
  const timer = core.clock.timer(timeoutSeconds * 1000, () => timeout.abort(new Error('context deadline exceeded')));
  try {
    return await post(json, timeout.signal);
  } catch (error) {
    const { message } = error as Error;
    throw new CallFailed(name, `failed to call webhook: Post ${JSON.stringify(url)}: ${message}`, error);
  } finally {
    timer.cancel();
  }
}

const MIN_ERROR_CODE = 400;
const MAX_ERROR_CODE = 599;

/** The error of a webhook that rejects a request. The webhook chooses its code and reason. */
class Rejection extends ApiError {
  constructor(
    webhook: string,
    private readonly result: RejectionStatus = {},
  ) {
    super('BadRequest', messageOf(webhook, result));
  }

  override get code(): number {
    const { code = 0 } = this.result;
    return Number.isInteger(code) && code >= MIN_ERROR_CODE && code <= MAX_ERROR_CODE ? code : MIN_ERROR_CODE;
  }

  override toStatus(): Status {
    const { reason, details } = this.result;
    const { reason: _, ...status } = super.toStatus();
    return {
      ...status,
      ...(typeof reason === 'string' && reason !== '' ? { reason } : {}),
      ...(typeof details === 'object' && details !== null ? { details } : {}),
      code: this.code,
    };
  }
}

function messageOf(webhook: string, { message, reason }: RejectionStatus): string {
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = message || reason;
  return why ? `${denied}: ${why}` : `${denied} without explanation`;
}

/** Creates the error for a required webhook that could not be called. */
export function failedClosed({ message }: CallFailed): ApiError {
  return new ApiError('InternalError', `Internal error occurred: ${message}`);
}
