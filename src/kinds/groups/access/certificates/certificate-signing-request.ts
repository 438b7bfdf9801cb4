import { addAll } from '../../../../base/collections/add-all.ts';
import { withoutUndefined } from '../../../../base/json/tree.ts';
import { s } from '../../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notSupported, required, under } from '../../../../schema/field-error.ts';
import { pathSegmentName } from '../../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../../schema/schema.ts';
import { age, NONE, name, type Sparse } from '../../../columns/column.ts';
import { humanDuration } from '../../../columns/elapsed.ts';
import { defineKind, type HookContext, type KubeObject, type Requester } from '../../../kind.ts';
import { signerName } from '../../../shapes/meta/signer-name.ts';
import { RequestStatus, statusProblems, withDecisions, withTimes } from './request-status.ts';
import { requestProblem } from './signed-request.ts';

const LEGACY_SIGNER = 'kubernetes.io/legacy-unknown';
const MIN_EXPIRATION_SECONDS = 600;

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];

const spec = {
  request: s.bytes(
    "The PKCS #10 certificate request in PEM, encoded in base64. Required; it must be signed with the requestor's own key.",
    { zero: true },
  ),
  signerName: s.string(
    'Signer that the certificate is requested from, such as kubernetes.io/kube-apiserver-client. The signer defines which requests it accepts and who trusts its certificates. Required.',
    { zero: true },
  ),
  expirationSeconds: s.int32(
    'Requested validity of the certificate in seconds, at least 600. The signer may issue one with another validity. Without it, the signer decides.',
  ),
  usages: s.list(
    s.string(),
    'Key usages to request, such as `digital signature`, `client auth` or `server auth`. At least one; the signer may restrict which are allowed.',
  ),
  username: s.string('Name of the user who created the request. Set by the server.', { omitZero: true }),
  uid: s.string('UID of the user who created the request. Set by the server.', { omitZero: true }),
  groups: s.list(s.string(), 'Groups of the user who created the request. Set by the server.'),
  extra: s.map(s.list(s.string()), 'Further attributes of the user who created the request. Set by the server.'),
};
type Spec = ObjectType<typeof spec>;

const fields = {
  spec: s.object(
    'CertificateSigningRequestSpec',
    'The certificate that is requested, and by whom. Cannot be changed after creation.',
    spec,
    { zero: true, rules: [requestIsValid] },
  ),
  status: s.use(
    RequestStatus,
    'Decision about the request and the issued certificate. Approval or denial is written through the `approval` subresource, the certificate through `status`.',
    { default: {} },
  ),
};

export type CertificateSigningRequest = KubeObject & ObjectType<typeof fields>;
type Request = CertificateSigningRequest;

/** A request for a certificate. */
export const CertificateSigningRequest = defineKind({
  kind: 'CertificateSigningRequest',
  short: ['csr'],
  scope: 'Cluster',
  description:
    'Requests an X.509 certificate from a signer. The request is approved or denied by an administrator or a controller; if it is approved, the signer puts the certificate into status.certificate. Requests are deleted automatically some time after they were created or decided.',
  versions: { 'certificates.k8s.io/v1': {} },
  fields,
  name: pathSegmentName,
  resetFields: { object: ['spec'], status: ['status.conditions'], approval: ['status.certificate'] },
  subresources: { status: true, approval: true },
  selectable: { 'spec.signerName': (csr: Request) => csr.spec.signerName },
  onCreate: (csr: Request, { user }: HookContext) => {
    csr.spec = { ...clientFields(csr.spec), ...(user ? userFields(user) : {}) };
  },
  onUpdate: (csr: Request, old: Request, { subresource, now }: HookContext) => {
    csr.spec = old.spec;
    csr.status = subresource === 'approval' ? withDecision(csr.status, old.status, now) : old.status;
  },
  onStatusUpdate: (csr: Request, old: Request, context?: HookContext) => {
    csr.status = withDecisions(csr.status, old.status);
    if (context) csr.status = withTimes(csr.status, old.status, context.now);
  },
  onExport: (csr: Request) => {
    csr.spec = clientFields(csr.spec);
  },
  rules: [({ status }, context) => statusProblems(status, context)],
  columns: ({ text }) => [
    name,
    age,
    text('SignerName', 'The requested signer.', ({ spec }) => spec?.signerName || NONE),
    text('Requestor', 'The user who created the request.', ({ spec }) => spec?.username ?? ''),
    text('RequestedDuration', 'Requested validity of the certificate.', ({ spec }) => {
      return spec?.expirationSeconds === undefined ? NONE : humanDuration(spec.expirationSeconds * 1000);
    }),
    text('Condition', 'State of the request.', conditionText),
  ],
});

/** The fields that the client may set. */
function clientFields({ request: signed, signerName: signer, expirationSeconds, usages: usageList }: Spec): Spec {
  return withoutUndefined({
    request: signed,
    signerName: signer,
    expirationSeconds,
    usages: usageList,
  });
}

/** The fields that identify the user. */
function userFields({ name, uid, groups, extra }: Requester): Partial<Spec> {
  return withoutUndefined({
    username: name || undefined,
    uid: uid || undefined,
    groups: groups.length ? [...groups] : undefined,
    extra:
      extra && Object.keys(extra).length
        ? Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]))
        : undefined,
  });
}

/** The status after an update through `approval`, which changes nothing but conditions. */
function withDecision(status: RequestStatus, old: RequestStatus, now: string): RequestStatus {
  const { conditions, ...rest } = { ...old, conditions: withTimes(status, old, now).conditions };
  return conditions ? { ...rest, conditions } : rest;
}

function requestIsValid(spec: Spec, { operation }: RuleContext): FieldError[] {
  if (operation === 'update') return [];
  const problem = requestProblem(Buffer.from(spec.request, 'base64').toString('latin1'));
  const found = problem ? [invalid('request', spec.request, problem)] : [];
  for (const each of usageProblems(spec.usages ?? [])) found.push(each);
  addAll(found, under('signerName', signer(spec.signerName)));
  const { expirationSeconds: seconds = MIN_EXPIRATION_SECONDS } = spec;
  if (seconds < MIN_EXPIRATION_SECONDS) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
    found.push(invalid('expirationSeconds', seconds, detail));
  }
  return found;
}

function usageProblems(usageList: readonly string[]): FieldError[] {
  if (usageList.length === 0) return [required('usages')];
  const at = (index: number) => `usages[${index}]`;
  const seen = new Set<string>();
  const isRepeated = (usage: string) => seen.size === seen.add(usage).size;
  return [
    ...usageList.flatMap((usage, index) => (usages.includes(usage) ? [] : [notSupported(at(index), usage, usages)])),
    ...usageList.flatMap((usage, index) => (isRepeated(usage) ? [duplicate(at(index), usage)] : [])),
  ];
}

function signer(name: string): FieldError[] {
  if (!name) return [required('')];
  return name === LEGACY_SIGNER
    ? [invalid('', name, 'the legacy signerName is not allowed via this API version')]
    : signerName(name);
}

function conditionText({ status }: Sparse<Request>): string {
  const has = (wanted: string) => status?.conditions?.some(({ type }) => type === wanted);
  const words = [has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'];
  if (has('Failed')) words.push('Failed');
  if (status?.certificate) words.push('Issued');
  return words.join(',');
}
