/** Removes requests for certificates that nobody needs any more. */
import { X509Certificate } from 'node:crypto';
import { CertificateSigningRequest } from '../../../kinds/groups/certificates/certificate-signing-request.ts';
import { type Controller, defineController } from '../../loop/define.ts';
import { type Plan, remove, requeueAfter } from '../../loop/plan.ts';
import { conditionOf, type Request } from './request-state.ts';

const HOUR = 3_600_000;
/** After something was decided, and how long a request waits to be dealt with. */
const SETTLED = HOUR;
const WAITING = 24 * HOUR;

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

/** When it may go. */
function endOf(request: Request): number {
  const { certificate, conditions = [] } = request.status;
  const after = (type: 'Approved' | 'Denied' | 'Failed', time: number) => {
    const since = conditionOf(request, type)?.lastUpdateTime;
    return since ? Date.parse(since) + time : Number.POSITIVE_INFINITY;
  };
  const isIssued = Boolean(certificate);
  return Math.min(
    after('Denied', SETTLED),
    after('Failed', SETTLED),
    after('Approved', isIssued ? SETTLED : WAITING),
    isIssued && conditionOf(request, 'Approved') ? expiryOf(certificate ?? '') : Number.POSITIVE_INFINITY,
    conditions.length === 0 ? Date.parse(request.metadata.creationTimestamp ?? '') + WAITING : Number.POSITIVE_INFINITY,
  );
}

/** Of a certificate in PEM and base64. The server has seen to it that it is one. */
function expiryOf(certificate: string): number {
  return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo);
}
