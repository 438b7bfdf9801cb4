/** Explains the errors of S3 servers. */
import { parseXml, textAt } from '../../../protocols/aws/xml.ts';
import { TargetError, type TargetProblem } from '../../target.ts';

export interface Failure {
  readonly status: number;
  /** Code of the error, such as `NoSuchKey`; undefined when the body has none. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  /** Time at the server, for errors of signatures. */
  readonly date: string | undefined;
  readonly bucketRegion: string | undefined;
}

export interface FailureContext {
  readonly bucket: string;
  readonly endpoint: string;
  readonly region: string;
  readonly keysFrom: string;
  readonly now: number;
}

const MAX_TEXT = 300;
/** An error begins within so many characters. */
const MAX_PROLOG = 1000;
const TRANSIENT = new Set([
  ...['InternalError', 'SlowDown', 'ServiceUnavailable', 'RequestTimeout', 'OperationAborted', 'Throttling'],
  ...['ThrottlingException', 'RequestLimitExceeded', 'BadDigest'],
]);
const TRANSIENT_STATUS = new Set([408, 429, 500, 502, 503, 504]);
const KEYS = new Set([
  ...['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'ExpiredToken', 'InvalidToken', 'TokenRefreshRequired'],
  ...['AuthorizationHeaderMalformed', 'InvalidSecurity'],
]);
const FULL = new Set(['QuotaExceeded', 'XMinioStorageFull', 'EntityTooLarge', 'InsufficientStorage']);
const MINUTE_MS = 60_000;

/** Reads code and message of an error, from a body that may be anything. */
export function errorIn(body: string): { readonly code: string | undefined; readonly message: string | undefined } {
  const none = { code: undefined, message: undefined };
  if (!body.slice(0, MAX_PROLOG).includes('<Error')) return none;
  try {
    const root = parseXml(body);
    if (root.name !== 'Error') return none;
    return { code: textAt(root, 'Code')?.slice(0, 100), message: textAt(root, 'Message')?.slice(0, MAX_TEXT) };
  } catch {
    return none;
  }
}

export function isTransient({ status, code }: Failure): boolean {
  return code === undefined ? TRANSIENT_STATUS.has(status) : TRANSIENT.has(code) || (status >= 500 && status !== 501);
}

export function explained(what: string, failure: Failure, context: FailureContext): TargetError {
  const { bucket, endpoint, region, keysFrom } = context;
  const { status, code, message, bucketRegion } = failure;
  const fail = (problem: TargetProblem, text: string) => new TargetError(problem, `${what}: ${text}`);
  const answer = `the server answers with ${status}${code ? ` ${code}` : ''}${message ? `: ${message}` : ''}`;
  if (code === 'NoSuchBucket') {
    return fail('Invalid', `${endpoint} has no bucket ${bucket}; create it, or correct --backup-to and its endpoint`);
  }
  if (bucketRegion && bucketRegion !== region) {
    return fail('Invalid', `the bucket is in the region ${bucketRegion.slice(0, 50)}, not ${region}; set AWS_REGION`);
  }
  if (code === 'RequestTimeTooSkewed' || code === 'RequestExpired') return fail('Denied', skew(failure, context));
  if (KEYS.has(code ?? '')) return fail('Denied', `the keys from ${keysFrom} are not accepted; ${answer}`);
  if (code === 'NoSuchKey' || (status === 404 && code === undefined)) return fail('NotFound', 'it does not exist');
  if (FULL.has(code ?? '') || status === 507) return fail('Full', answer);
  if (status === 401 || status === 403) {
    return fail('Denied', `the keys from ${keysFrom} do not give the right to it; ${answer}`);
  }
  if (status >= 300 && status < 400) return fail('Invalid', `${answer}; correct the endpoint or the region`);
  return fail(isTransient(failure) ? 'Unavailable' : 'Invalid', answer);
}

function skew({ date }: Failure, { now }: FailureContext): string {
  const difference = now - Date.parse(date ?? '');
  const minutes = Math.round(Math.abs(difference) / MINUTE_MS);
  const found = Number.isNaN(difference)
    ? 'differs from that of the server'
    : `is ${minutes} minutes ${difference > 0 ? 'ahead of' : 'behind'} that of the server`;
  return `the clock of this machine ${found}, so that its signatures are not accepted; set the clock`;
}
