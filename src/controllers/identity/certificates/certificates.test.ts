import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../base/random.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { issue, newIssuer, newKey } from '../../../protocols/x509/certificate.ts';
import { newRequest, parseRequest } from '../../../protocols/x509/request.ts';
import { approvingController, isOwnServing, planApproval } from './approving.ts';
import { planCleaning } from './cleaning.ts';
import { outcomeOf, planSigning, type SignCertificate, signingAuthority } from './signing.ts';

const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const CLIENT = ['client auth', 'digital signature'];
const SERVER = ['digital signature', 'server auth', 'key encipherment'];
const NODE = { commonName: 'system:node:a', organization: 'system:nodes' };
const DAY = 86_400_000;

interface Asked {
  signerName?: string;
  usages?: readonly string[];
  subject?: { commonName: string; organization?: string };
  names?: readonly string[];
  spec?: object;
  status?: object;
}

function request({ signerName = 'client', usages = CLIENT, subject = NODE, names = [], spec, status }: Asked): any {
  const full = {
    client: 'kube-apiserver-client',
    kubelet: 'kube-apiserver-client-kubelet',
    serving: 'kubelet-serving',
  };
  return {
    metadata: { name: 'r', uid: 'u', creationTimestamp: '2030-01-01T00:00:00Z' },
    spec: {
      request: btoa(newRequest({ subject, names }, key)),
      signerName: `kubernetes.io/${(full as any)[signerName] ?? signerName}`,
      usages,
      username: 'system:node:a',
      groups: ['system:nodes'],
      ...spec,
    },
    status: status ?? { conditions: [{ type: 'Approved', status: 'True' }] },
  };
}

let sign: SignCertificate;
let authority: X509Certificate;
let clock: ControlledClock;
beforeAll(async () => {
  clock = new ControlledClock();
  const { privateKey, publicKey } = await newKey();
  const subject = { commonName: 'ca' };
  const now = clock.now();
  const validity = { notBefore: now - DAY, notAfter: now + 100 * DAY };
  const issuer = newIssuer(subject, privateKey);
  const certificate = issue({ subject, publicKey, usage: 'authority', ...validity }, issuer, systemRandom);
  authority = new X509Certificate(certificate);
  sign = signingAuthority({ certificate, key: privateKey, maxLifetime: 365 * DAY, clock, random: systemRandom });
});

const issued = async (asked: Asked) => {
  const outcome = await outcomeOf(request(asked), sign);
  return 'certificate' in outcome ? new X509Certificate(outcome.certificate) : outcome.failure;
};

it('a signed certificate has the requested content, signed by the authority', async () => {
  const usages = ['digital signature', 'key encipherment', 'server auth'];
  const names = ['a', '10.0.0.1'];
  const certificate = (await issued({ signerName: 'serving', usages, names })) as X509Certificate;
  expect(certificate.verify(authority.publicKey)).toBe(true);
  expect(certificate.checkIssued(authority)).toBe(true);
  expect(certificate.ca).toBe(false);
  expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:a');
  expect(certificate.subjectAltName).toBe('DNS:a, IP Address:10.0.0.1');
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(certificate.checkPrivateKey(key)).toBe(true);
});

it.each([
  ['as long as asked', 3600, 3_600_000],
  ['ten minutes at least', 60, 600_000],
  ['not longer than the authority', undefined, 100 * DAY],
  ['not longer than allowed', 400 * 86_400, 100 * DAY],
])('a signed certificate lasts %s', async (_, expirationSeconds, life) => {
  const certificate = (await issued({ spec: { expirationSeconds } })) as X509Certificate;
  expect(Date.parse(certificate.validTo) - clock.now()).toBe(life);
  expect(Date.parse(certificate.validFrom) - clock.now()).toBe(-300_000);
});

describe('a signer rejects', () => {
  const foreign = { commonName: 'ann', organization: 'system:masters' };
  const nobody = { commonName: 'ann', organization: 'system:nodes' };
  it.each<[string, Asked, string]>([
    [
      'a client that serves',
      { usages: [...CLIENT, 'server auth'] },
      'invalid usage for client certificate: server auth',
    ],
    ['no client', { usages: ['digital signature'] }, 'missing required usage for client certificate: client auth'],
    [
      'a node of another group',
      { signerName: 'kubelet', subject: foreign },
      'subject organization is not system:nodes',
    ],
    [
      'a node of another name',
      { signerName: 'kubelet', subject: nobody },
      'subject common name does not begin with system:node:',
    ],
    ...['A', 'a ', 'a.', '', 'a/b', '\uff41'].map((name): [string, Asked, string] => [
      `a node that could not be called ${JSON.stringify(name)}`,
      { signerName: 'kubelet', subject: { ...NODE, commonName: `system:node:${name}` } },
      'subject common name has no valid name of a node after system:node:',
    ]),
    ['a node client with names', { signerName: 'kubelet', names: ['a'] }, 'DNS subjectAltNames are not allowed'],
    [
      'a node client with addresses',
      { signerName: 'kubelet', names: ['10.0.0.1'] },
      'IP subjectAltNames are not allowed',
    ],
    [
      'a node client for other uses',
      { signerName: 'kubelet', usages: ['client auth'] },
      'usages did not match [client auth digital signature key encipherment]',
    ],
    ['a node that serves nowhere', { signerName: 'serving', usages: SERVER }, 'DNS or IP subjectAltName is required'],
    [
      'a node that serves as a client',
      { signerName: 'serving', usages: CLIENT, names: ['a'] },
      'usages did not match [digital signature key encipherment server auth]',
    ],
  ])('%s', async (_, asked, message) => {
    expect(await issued(asked)).toBe(message);
  });
});

describe('the plan to sign', () => {
  const now = new Date('2030-01-01T00:00:00Z');
  it('puts the certificate, or the reason of the failure, into the status', () => {
    const [action] = planSigning(request({}), { observed: { certificate: 'PEM' } }, now);
    expect(action).toMatchObject({ type: 'updateStatus', object: { status: { certificate: btoa('PEM') } } });
    const [failed] = planSigning(request({}), { observed: { failure: 'why' } }, now);
    expect((failed as any).object.status.conditions).toEqual([
      { type: 'Approved', status: 'True' },
      {
        type: 'Failed',
        status: 'True',
        reason: 'SignerValidationFailure',
        message: 'why',
        lastUpdateTime: '2030-01-01T00:00:00Z',
      },
    ]);
  });

  const condition = (...types: string[]) => ({ conditions: types.map((type) => ({ type, status: 'True' })) });
  it.each<[string, Asked]>([
    ['nobody has approved', { status: {} }],
    ['was denied', { status: condition('Denied') }],
    ['has failed', { status: condition('Approved', 'Failed') }],
    ['is signed', { status: { ...condition('Approved'), certificate: 'x' } }],
    ['another signs', { signerName: 'example.com/other' }],
  ])('leaves a request alone that %s', (_, asked) => {
    expect(planSigning(request(asked), { observed: { certificate: 'PEM' } }, now)).toEqual([]);
  });
});

it('approval is granted with its reason, once', () => {
  const observed = { verdict: 'approve', message: 'because' } as const;
  const [action] = planApproval(request({ status: {} }), { observed });
  expect(action).toMatchObject({ type: 'updateSubresource', subresource: 'approval' });
  expect((action as any).object.status.conditions).toEqual([
    { type: 'Approved', status: 'True', reason: 'AutoApproved', message: 'because' },
  ]);
  expect(planApproval(request({}), { observed })).toEqual([]);
  expect(planApproval(request({ status: { conditions: [{ type: 'Denied' }] } }), { observed })).toEqual([]);
  expect(planApproval(request({ status: {} }), { observed: undefined })).toEqual([]);
  const later = planApproval(request({ status: {} }), { observed: { verdict: 'wait', message: '' } });
  expect(later.map(({ type }) => type)).toEqual(['requeueAfter']);
});

it.each<[string, boolean, Asked]>([
  ['its own name', true, { names: ['a'] }],
  ['another name', false, { names: ['b'] }],
  ['its own and another name', false, { names: ['a', 'b'] }],
  ['an address', false, { names: ['10.0.0.1'] }],
  ['its name, asked for by another', false, { names: ['a'], spec: { username: 'system:node:b' } }],
  ['its name, asked for by somebody who is no node', false, { names: ['a'], spec: { groups: [] } }],
  [
    'a name of the server',
    false,
    {
      names: ['kubernetes'],
      subject: { ...NODE, commonName: 'system:node:kubernetes' },
      spec: { username: 'system:node:kubernetes' },
    },
  ],
])('approval of a node that serves under %s: %s', (_, is, asked) => {
  const csr = request({ signerName: 'serving', usages: SERVER, ...asked });
  const parsed = parseRequest(atob(csr.spec.request));
  expect(isOwnServing({ ...csr }, parsed, ['kubernetes'])).toBe(is);
});

describe('a request for the client certificate of a node', () => {
  const now = new Date('2030-01-01T00:00:00Z');
  const BOOTSTRAP = { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers', 'system:authenticated'] };
  const node = (ready?: string) => ({
    metadata: { name: 'a' },
    status: { conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready }] },
  });
  /** The plan of the controller; every requester has the rights that bootstrap tokens have. */
  async function decide(existing: object | undefined, spec: object) {
    const csr = request({ signerName: 'kubelet', spec, status: {} });
    const review = async (asked: any) => ({
      status: { allowed: asked.spec.resourceAttributes.subresource === 'nodeclient' || spec !== BOOTSTRAP },
    });
    const client = { of: () => ({ create: review }) } as any;
    const world = { key: { namespace: undefined, name: 'r' }, of: () => ({ get: () => existing }) } as any;
    const controller = approvingController({ reservedNames: [] });
    const observed = await controller.observe!(csr, world, { client, signal: new AbortController().signal, now });
    return controller.plan(csr, { ...world, observed }, now) as any[];
  }

  it.each([
    ['whose name is free', undefined],
    ['that was never heard of', node()],
    ['that has fallen silent', node('Unknown')],
  ])('is approved for a join token when it is one %s', async (_, existing) => {
    const [action] = await decide(existing, BOOTSTRAP);
    expect(action.object.status.conditions).toMatchObject([{ type: 'Approved' }]);
  });

  it.each(['True', 'False'])('is denied for a join token while that node is alive (Ready: %s)', async (ready) => {
    const [action, ...more] = await decide(node(ready), BOOTSTRAP);
    expect(action).toMatchObject({ type: 'updateSubresource', subresource: 'approval' });
    expect(action.object.status.conditions).toEqual([
      {
        type: 'Denied',
        status: 'True',
        reason: 'NodeExists',
        message:
          'Node a exists and is alive: a join token cannot replace it. Choose another --node-name; or, if this machine takes its place, wait until it is NotReady or run "kubectl delete node a".',
      },
    ]);
    expect(more).toEqual([]);
  });

  it('waits for an administrator when another user requests it while that node is alive', async () => {
    const plan = await decide(node('True'), { username: 'ann', groups: ['system:masters'] });
    expect(plan.map(({ type }) => type)).toEqual(['requeueAfter']);
  });

  it('is approved for the node itself', async () => {
    const [action] = await decide(node('True'), {});
    expect(action.object.status.conditions).toMatchObject([{ type: 'Approved' }]);
  });
});

describe('cleaning', () => {
  const at = (hours: number) => new Date(Date.parse('2030-01-01T00:00:00Z') + hours * 3_600_000);
  const since = (...types: string[]) => ({
    conditions: types.map((type) => ({ type, status: 'True', lastUpdateTime: '2030-01-01T00:00:00Z' })),
  });
  it.each<[string, number, object]>([
    ['waits', 24, {}],
    ['was denied', 1, since('Denied')],
    ['has failed', 1, since('Approved', 'Failed')],
    ['was approved and never signed', 24, since('Approved')],
  ])('takes a request that %s after %s hours', (_, hours, status) => {
    expect(planCleaning(request({ status }), at(hours - 0.5))).toEqual([
      { type: 'requeueAfter', milliseconds: 1_800_000 },
    ]);
    expect(planCleaning(request({ status }), at(hours))).toMatchObject([{ type: 'delete' }]);
  });

  it('deletes a signed one after an hour, or when the certificate has expired', async () => {
    const outcome = await outcomeOf(request({ spec: { expirationSeconds: 1800 } }), sign);
    const certificate = btoa((outcome as { certificate: string }).certificate);
    const status = { ...since('Approved'), certificate };
    expect(planCleaning(request({ status }), at(0.25))).toEqual([{ type: 'requeueAfter', milliseconds: 900_000 }]);
    expect(planCleaning(request({ status }), at(0.5))).toMatchObject([{ type: 'delete' }]);
  });

  it('ignores one that is gone', () => {
    expect(planCleaning(undefined, at(0))).toEqual([]);
  });
});
