/** Deletes certificate requests that are no longer needed. */

import { X509Certificate } from 'node:crypto';
import { CertificateSigningRequest } from '../../../kinds/groups/access/certificates/certificate-signing-request.ts';
import { type Controller, defineController } from '../../loop/define.ts';
import { type Plan, remove, requeueAfter } from '../../loop/plan.ts';
import { conditionOf } from '../../shared/conditions.ts';
import type { Request } from './signer-rules.ts';

const HOUR_MS = 3_600_000;
/** Retention of decided requests, and the time that undecided ones may wait. */
const KEEP_DECIDED_MS = HOUR_MS;
const KEEP_UNDECIDED_MS = 24 * HOUR_MS;

export const csrCleaningController: Controller = defineController<CertificateSigningRequest>({
  name: 'csr-cleaning',
  account: 'certificate-controller',
  watches: CertificateSigningRequest,
  plan: (request, _, now) => planCleaning(request, now),
});

export function planCleaning(request: Request | undefined, now: Date): Plan {
  if (!request || request.metadata.deletionTimestamp) return [];
  const left = endOf(request) - now.getTime();
  if (left <= 0) return [remove(CertificateSigningRequest, request)];
  return Number.isFinite(left) ? [requeueAfter(left)] : [];
}

/** Returns when the request can be deleted. */
function endOf(request: Request): number {
  const { certificate, conditions = [] } = request.status;
  const after = (type: 'Approved' | 'Denied' | 'Failed', time: number) => {
    const since = conditionOf(request, type)?.lastUpdateTime;
    return since ? Date.parse(since) + time : Number.POSITIVE_INFINITY;
  };
  const isIssued = Boolean(certificate);
  return Math.min(
    after('Denied', KEEP_DECIDED_MS),
    after('Failed', KEEP_DECIDED_MS),
    after('Approved', isIssued ? KEEP_DECIDED_MS : KEEP_UNDECIDED_MS),
    isIssued && conditionOf(request, 'Approved') ? expiryOf(certificate ?? '') : Number.POSITIVE_INFINITY,
    conditions.length === 0
      ? Date.parse(request.metadata.creationTimestamp ?? '') + KEEP_UNDECIDED_MS
      : Number.POSITIVE_INFINITY,
  );
}

/** Parses a certificate in PEM and base64, which the server has validated. */
function expiryOf(certificate: string): number {
  return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo);
}
