/** The status of a certificate signing request: its conditions and the certificate. */
import { X509Certificate } from 'node:crypto';
import { indexBy } from '../../../../base/collections/index-by.ts';
import { pemBlocks } from '../../../../protocols/x509/pem.ts';
import { s } from '../../../../schema/builders.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../../schema/field-error.ts';
import type { RuleContext, TypeOf } from '../../../../schema/schema.ts';

const RequestCondition = s.object(
  'CertificateSigningRequestCondition',
  'One observation about a certificate signing request.',
  {
    type: s.string(
      "`Approved` or `Denied`, set through the `approval` subresource; `Failed`, when the signer could not issue the certificate; or a type of the signer's own.",
      { zero: true },
    ),
    status: s.string('True, False or Unknown. Approved, Denied and Failed can only be True.', { zero: true }),
    reason: s.string('Reason for the condition, in one CamelCase word.', { omitZero: true }),
    message: s.string('Details about the condition, for people.', { omitZero: true }),
    lastUpdateTime: s.time('When the condition was last written. Set by the server if it is left out.'),
    lastTransitionTime: s.time('When the status of the condition last changed. Set by the server if it is left out.'),
  },
);
type RequestCondition = TypeOf<typeof RequestCondition>;

export const RequestStatus = s.object(
  'CertificateSigningRequestStatus',
  'Decision about a certificate signing request, and the certificate itself.',
  {
    conditions: s.listMap(
      RequestCondition,
      'Decisions about the request, at most one per type. Approved and Denied exclude each other, and neither these two nor Failed can be removed again.',
      { keys: ['type'], merge: undefined },
    ),
    certificate: s.bytes(
      'The issued certificate, followed by any intermediate certificates, in PEM encoded in base64. Written by the signer after approval; cannot be changed afterwards.',
    ),
  },
);
export type RequestStatus = TypeOf<typeof RequestStatus>;

const decisions = ['Approved', 'Denied'];
const onlyTrue = [...decisions, 'Failed'];

/** Fills in the times of conditions that lack them. */
export function withTimes(status: RequestStatus, old: RequestStatus, now: string): RequestStatus {
  if (!status.conditions) return status;
  const identity = ({ type, status: word }: RequestCondition) => `${word} ${type}`;
  const before = indexBy(old.conditions, identity);
  const since = (condition: RequestCondition) => before.get(identity(condition))?.lastTransitionTime ?? now;
  const conditions = status.conditions.map((condition) => ({
    ...condition,
    lastUpdateTime: condition.lastUpdateTime ?? now,
    lastTransitionTime: condition.lastTransitionTime ?? since(condition),
  }));
  return { ...status, conditions };
}

/** Keeps the conditions Approved and Denied as they were: a signer cannot change them. */
export function withDecisions(status: RequestStatus, old: RequestStatus): RequestStatus {
  const before = indexBy(old.conditions, ({ type }) => type);
  const conditions = status.conditions?.map((condition) =>
    decisions.includes(condition.type) ? (before.get(condition.type) ?? condition) : condition,
  );
  return conditions ? { ...status, conditions } : status;
}

type Context = RuleContext<unknown, { readonly status?: RequestStatus }>;

/** A kind's rule, with paths from the object. */
export function statusProblems(status: RequestStatus, context: Context): FieldError[] {
  const old: RequestStatus | undefined = context.oldRoot && (context.oldRoot.status ?? {});
  const found = conditionProblems(status.conditions ?? []);
  if (!old) return found;
  return [...found, ...removals(status, old), ...additions(status, old, context), ...certificate(status, old, context)];
}

function conditionProblems(conditions: readonly RequestCondition[]): FieldError[] {
  const seen = new Set<string>();
  return conditions.flatMap(({ type, status }, index) => {
    const at = `status.conditions[${index}]`;
    const found: FieldError[] = [];
    if (!type) found.push(required(`${at}.type`));
    const words = onlyTrue.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (!status) found.push(required(`${at}.status`));
    else if (!words.includes(status)) found.push(notSupported(`${at}.status`, status, words));
    if (decisions.includes(type) && decisions.some((each) => each !== type && seen.has(each))) {
      found.push(invalid('status.conditions', type, 'Approved and Denied conditions are mutually exclusive'));
    }
    if (seen.has(type)) found.push(duplicate(`${at}.type`, type));
    seen.add(type);
    return found;
  });
}

const has = ({ conditions = [] }: RequestStatus, type: string) => conditions.some((each) => each.type === type);

function removals(status: RequestStatus, old: RequestStatus): FieldError[] {
  return onlyTrue
    .filter((type) => has(old, type) && !has(status, type))
    .map((type) => forbidden('status.conditions', `updates may not remove a condition of type "${type}"`));
}

function additions(status: RequestStatus, old: RequestStatus, { subresource }: RuleContext): FieldError[] {
  if (subresource === 'approval') return [];
  return decisions
    .filter((type) => has(status, type) && !has(old, type))
    .map((type) => forbidden('status.conditions', `updates may not add a condition of type "${type}"`));
}

function certificate(status: RequestStatus, old: RequestStatus, { subresource }: RuleContext): FieldError[] {
  const { certificate: issued = '' } = status;
  if (issued === (old.certificate ?? '')) return [];
  const field = 'status.certificate';
  const problem = issued && certificateProblem(Buffer.from(issued, 'base64').toString('latin1'));
  const found = problem ? [invalid(field, '<certificate data>', problem)] : [];
  if (subresource !== 'status') found.push(forbidden(field, 'updates may not set certificate content'));
  else if (old.certificate) found.push(forbidden(field, 'updates may not modify existing certificate content'));
  return found;
}

function certificateProblem(pem: string): string | undefined {
  let blocks = 0;
  for (const { type, hasHeaders, bytes } of pemBlocks(pem)) {
    if (type !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`;
    if (hasHeaders) return 'no PEM block headers are permitted';
    if (!isCertificate(bytes)) return 'x509: malformed certificate';
    blocks++;
  }
  return blocks === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined;
}

function isCertificate(bytes: Buffer): boolean {
  try {
    new X509Certificate(bytes);
    return true;
  } catch {
    // The parser throws for anything that is not a certificate; the reason does not matter here.
    return false;
  }
}
