/** AdmissionReviews: builds the request to a webhook, and parses its response. */
import { isTree } from '../../../../base/json/tree.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';
import { parseAnswer } from '../../../outbound/webhooks/post.ts';
import { describeRequest } from '../describe-request.ts';
import type { AdmittedForm } from '../form.ts';

const GROUP = 'admission.k8s.io';
const KNOWN_VERSIONS = ['v1', 'v1beta1'];

export interface Verdict {
  readonly allowed: boolean;
  /** A JSON patch as base64; undefined when there is nothing to change. */
  readonly patch: string | undefined;
  readonly result: RejectionStatus | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

export interface RejectionStatus {
  readonly code?: number;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: object;
}

/** Returns the first version that both the webhook and this server support. */
export function reviewVersion(accepted: readonly string[]): string | undefined {
  return accepted.find((version) => KNOWN_VERSIONS.includes(version));
}

export function reviewOf(request: AdmissionRequest, form: AdmittedForm, { uid, version }: ReviewIdentity): object {
  return {
    kind: 'AdmissionReview',
    apiVersion: `${GROUP}/${version}`,
    request: { uid, ...describeRequest(request, form), object: form.object ?? null, oldObject: form.old ?? null },
  };
}

/** Limit for the parts of a response, which has few: patches are strings in it. */
const MAX_PARTS = 20_000;
/** Limit for the warnings, and for the audit annotations, of a webhook; further ones are dropped. */
const MAX_NOTES = 1_000;
/** Limit for the message and the reason of a rejection, which people read. */
const MAX_MESSAGE_CHARACTERS = 16 * 1024;
/** Limit for the details of a rejection, as JSON; larger ones are dropped. */
const MAX_DETAILS_CHARACTERS = 64 * 1024;
/** Limit for the key of an audit annotation; longer ones are dropped. */
const MAX_KEY_CHARACTERS = 256;
/** Limit for the value of an audit annotation, as for policies. */
const MAX_VALUE_CHARACTERS = 10 * 1024;
/** Limit for all audit annotations of one response. */
const MAX_ANNOTATION_CHARACTERS = 256 * 1024;

interface ReviewIdentity {
  readonly uid: string;
  readonly version: string;
}

/** Parses a response. Throws an Error that explains what is wrong with it. */
export function verdictOf(text: string, { uid, version }: ReviewIdentity, mayPatch: boolean): Verdict {
  const review = parseAnswer(text, MAX_PARTS);
  if (!isTree(review) || !isTree(review.response)) throw new Error('webhook response was absent');
  const { response } = review;
  if (version === 'v1') checkEnvelope(review, uid);
  const { patch, patchType } = response;
  if (version === 'v1') checkPatch(patch, patchType, mayPatch);
  if (patchType !== undefined && patchType !== null && patchType !== 'JSONPatch' && mayPatch) {
    throw new Error(`unsupported patch type ${JSON.stringify(patchType)}`);
  }
  return {
    allowed: response.allowed === true,
    patch: mayPatch && typeof patch === 'string' && patch !== '' ? patch : undefined,
    result: isTree(response.status) ? rejectionOf(response.status) : undefined,
    warnings: Array.isArray(response.warnings)
      ? response.warnings.slice(0, MAX_NOTES).filter((each) => typeof each === 'string')
      : [],
    auditAnnotations: annotationsOf(response.auditAnnotations),
  };
}

function checkEnvelope({ kind = '', apiVersion = '', response }: Record<string, unknown>, uid: string): void {
  const given = (response as { uid?: unknown }).uid ?? '';
  if (given !== uid) throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`);
  if (kind === 'AdmissionReview' && apiVersion === `${GROUP}/v1`) return;
  const got = String(apiVersion).includes('/') ? apiVersion : `/${apiVersion}`;
  throw new Error(`expected webhook response of ${GROUP}/v1, Kind=AdmissionReview, got ${got}, Kind=${kind}`);
}

function checkPatch(patch: unknown, patchType: unknown, mayPatch: boolean): void {
  const hasPatch = patch !== undefined && patch !== null && patch !== '';
  const hasType = patchType !== undefined && patchType !== null;
  if (!mayPatch) {
    if (hasPatch) throw new Error('validating webhook may not return response.patch');
    if (hasType) throw new Error('validating webhook may not return response.patchType');
    return;
  }
  if (hasPatch && !hasType) throw new Error('webhook returned response.patch but not response.patchType');
  if (!hasPatch && hasType) throw new Error('webhook returned response.patchType but not response.patch');
  if (hasType && patchType === '') throw new Error('webhook returned invalid response.patchType of ""');
}

/** Returns the status of a rejection. A response has megabytes at most; clients and the audit log get much less. */
function rejectionOf({ code, message, reason, details }: Record<string, unknown>): RejectionStatus {
  return {
    code: typeof code === 'number' ? code : undefined,
    message: typeof message === 'string' ? shortened(message) : undefined,
    reason: typeof reason === 'string' ? shortened(reason) : undefined,
    details: isTree(details) && JSON.stringify(details).length <= MAX_DETAILS_CHARACTERS ? details : undefined,
  };
}

export function shortened(text: string, maxCharacters = MAX_MESSAGE_CHARACTERS): string {
  if (text.length <= maxCharacters) return text;
  // Avoids splitting a pair of surrogates.
  const kept = text.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, '');
  return `${kept}...`;
}

function annotationsOf(value: unknown): Record<string, string> {
  const annotations: Record<string, string> = {};
  if (!isTree(value)) return annotations;
  let room = MAX_ANNOTATION_CHARACTERS;
  for (const name of Object.keys(value).slice(0, MAX_NOTES)) {
    const text = value[name];
    if (typeof text !== 'string' || name.length > MAX_KEY_CHARACTERS) continue;
    const kept = shortened(text, MAX_VALUE_CHARACTERS);
    room -= name.length + kept.length;
    if (room < 0) break;
    annotations[name] = kept;
  }
  return annotations;
}
