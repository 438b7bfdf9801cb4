import { describe, expect, it } from 'vitest';
import { create, received, update } from '../../../../../test/support/kinds/test-object.ts';
import { pem, testRequest } from '../../../../../test/support/kinds/test-request.ts';
import { clone, deepFreeze } from '../../../../base/json/tree.ts';
import { validate } from '../../../../schema/validate.ts';
import type { HookContext } from '../../../kind.ts';
import { CertificateSigningRequest as Csr } from './certificate-signing-request.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const request = base64(pem(testRequest()));
const spec = { request, signerName: 'example.com/signer', usages: ['client auth'] };
const csr = (parts: object = {}) => ({ metadata: { name: 'jane' }, spec: { ...spec, ...parts } });
const withStatus = (status: object) => ({ ...csr(), status });

const NOW = '2026-01-02T03:04:05Z';
const EARLIER = '2025-01-01T00:00:00Z';
const approved = { type: 'Approved', status: 'True', reason: 'Known', message: 'I know her' };

const certificate = base64(`-----BEGIN CERTIFICATE-----
MIIBMjCB5aADAgECAhRIGSctN4+GkMrIhnYBUKCRePYcYzAFBgMrZXAwDzENMAsG
A1UEAwwEdGVzdDAeFw0yNjExMTUwMjU4NDdaFw0zNjExMTIwMjU4NDdaMA8xDTAL
BgNVBAMMBHRlc3QwKjAFBgMrZXADIQAmeQK56z9ApHNENpyj+NA0GRSxFAck8VTi
58f46YMVNaNTMFEwHQYDVR0OBBYEFGPrciCSo1nHPFUqfB7HzMdaQjuhMB8GA1Ud
IwQYMBaAFGPrciCSo1nHPFUqfB7HzMdaQjuhMA8GA1UdEwEB/wQFMAMBAf8wBQYD
K2VwA0EAS0r9c5ETmeZ0BxkAdo2u4oJGYacYACEh0e926PS+mk9Bu5m9NqyMQUXr
ofnBdrKQmx/xuUXgCM+5m0p6e3kxAw==
-----END CERTIFICATE-----
`);

const hook = (parts: Partial<HookContext>): HookContext => ({
  now: NOW,
  uuid: () => 'u',
  apiVersion: Csr.hub.apiVersion,
  subresource: undefined,
  ...parts,
});

/** Writes `approval` as a server does: the whole object is taken from the body. */
function approve(old: Csr, status: object) {
  const object: Csr = received(Csr, withStatus(status));
  Csr.onUpdate?.(object, deepFreeze(old), hook({ subresource: 'approval' }));
  const context = { operation: 'update', old, subresource: 'approval', apiVersion: Csr.hub.apiVersion } as const;
  const found = validate(Csr.hub.schema, object, context);
  for (const rule of Csr.rules ?? []) {
    found.push(...rule(object, { ...context, parent: undefined, root: object, oldRoot: old }));
  }
  return { object, errors: found.map(({ field, message }) => `${field}: ${message}`) };
}

const sign = (old: Csr, status: object) => update(Csr, old, withStatus(status), { subresource: 'status' });

describe('a CertificateSigningRequest', () => {
  it('starts without a status, whatever the client sends', () => {
    expect(create(Csr, withStatus({ conditions: [approved] }))).toEqual({
      object: { ...csr(), status: {} },
      errors: [],
    });
  });

  it('records the user who created it, whatever the client sends', () => {
    const claimed = { username: 'admin', uid: '1', groups: ['system:masters'], extra: { scope: ['all'] } };
    expect(create(Csr, csr(claimed)).object.spec).toEqual(spec);
    const object = received(Csr, csr(claimed));
    Csr.onCreate?.(object, hook({ user: { name: 'jane', groups: ['devs'], extra: { scope: ['some'] } } }));
    expect(object.spec).toEqual({ ...spec, username: 'jane', groups: ['devs'], extra: { scope: ['some'] } });
  });

  it('can be selected by its signer', () => {
    expect(Csr.selectable?.['spec.signerName']?.(create(Csr, csr()).object)).toBe('example.com/signer');
  });

  it.each<[string, object, string[]]>([
    ['ten minutes', { expirationSeconds: 600 }, []],
    [
      'less',
      { expirationSeconds: 599 },
      ['spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)'],
    ],
    [
      'nothing',
      { request: undefined, signerName: undefined, usages: undefined },
      [
        'spec.request: Invalid value: "": PEM block type must be CERTIFICATE REQUEST',
        'spec.usages: Required value',
        'spec.signerName: Required value',
      ],
    ],
    [
      'the signer of old',
      { signerName: 'kubernetes.io/legacy-unknown' },
      [
        'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy signerName is not allowed via this API version',
      ],
    ],
    [
      'a signer of no domain',
      { signerName: 'me' },
      [
        'spec.signerName: Invalid value: "me": must be a fully qualified domain and path of the form \'example.com/signer-name\'',
      ],
    ],
    [
      'odd usages',
      { usages: ['client auth', 'fun', 'client auth'] },
      [
        expect.stringContaining('spec.usages[1]: Unsupported value: "fun": supported values: "any", "cert sign",'),
        'spec.usages[2]: Duplicate value: "client auth"',
      ],
    ],
  ])('with %s is validated', (_what, parts, errors) => {
    expect(create(Csr, csr(parts)).errors).toEqual(errors);
  });

  it('is not changed by a replace', () => {
    const { object: old } = create(Csr, csr());
    const { object, errors } = update(Csr, old, csr({ signerName: 'example.com/other' }));
    expect(errors).toEqual([]);
    expect(object).toEqual(old);
  });
});

describe('an approval', () => {
  const { object: pending } = create(Csr, csr());

  it('gets a time, and changes nothing else', () => {
    const { object, errors } = approve(pending, { conditions: [approved], certificate });
    expect(errors).toEqual([]);
    expect(object).toEqual({
      ...pending,
      status: { conditions: [{ ...approved, lastUpdateTime: NOW, lastTransitionTime: NOW }] },
    });
  });

  it('keeps its transition time', () => {
    const old = { ...clone(pending), status: { conditions: [{ ...approved, lastTransitionTime: EARLIER }] } } as Csr;
    const { object } = approve(old, { conditions: [{ ...approved, message: 'still' }] });
    expect(object.status.conditions).toEqual([
      { ...approved, message: 'still', lastUpdateTime: NOW, lastTransitionTime: EARLIER },
    ]);
  });

  it('cannot be reverted', () => {
    const { object: old } = approve(pending, { conditions: [approved] });
    expect(approve(old, {}).errors).toEqual([
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    ]);
  });

  it.each<[string, object[], string[]]>([
    ['another thing', [{ type: 'Seen', status: 'Unknown' }], []],
    [
      'both',
      [approved, { type: 'Denied', status: 'True' }],
      ['status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive'],
    ],
    [
      'no',
      [{ ...approved, status: 'False' }],
      ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
    ],
    ['nothing', [{}], ['status.conditions[0].type: Required value', 'status.conditions[0].status: Required value']],
    [
      'maybe',
      [{ type: 'Seen', status: 'Maybe' }],
      ['status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"'],
    ],
    ['it twice', [approved, approved], ['status.conditions[1].type: Duplicate value: "Approved"']],
  ])('with %s is validated', (_what, conditions, errors) => {
    expect(approve(pending, { conditions }).errors).toEqual(errors);
  });
});

describe('a signer', () => {
  const { object: decided } = approve(create(Csr, csr()).object, { conditions: [approved] });
  const { object: issued } = sign(decided, { conditions: [approved], certificate });

  it('writes the certificate, and cannot change the decision', () => {
    const changed = { ...approved, message: 'because I say so' };
    const { object, errors } = sign(decided, { conditions: [changed], certificate });
    expect(errors).toEqual([]);
    expect(object.status).toEqual({ ...decided.status, certificate });
  });

  it('can report a failure', () => {
    const failed = { type: 'Failed', status: 'True' };
    const { object, errors } = sign(decided, { conditions: [approved, failed] });
    expect(errors).toEqual([]);
    expect(object.status.conditions?.[1]).toEqual({ ...failed, lastUpdateTime: NOW, lastTransitionTime: NOW });
  });

  it.each<[string, object, ...string[]]>([
    [
      'cannot decide',
      { conditions: [approved, { type: 'Denied', status: 'True' }] },
      'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
      'status.conditions: Forbidden: updates may not add a condition of type "Denied"',
    ],
    [
      'cannot take the decision back',
      {},
      'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    ],
    [
      'writes nothing but certificates',
      { conditions: [approved], certificate: request },
      'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"',
    ],
    [
      'writes whole certificates',
      { conditions: [approved], certificate: base64(pem(testRequest(), 'CERTIFICATE')) },
      'status.certificate: Invalid value: "<certificate data>": x509: malformed certificate',
    ],
    [
      'writes something',
      { conditions: [approved], certificate: base64('hello') },
      'status.certificate: Invalid value: "<certificate data>": must contain at least one CERTIFICATE PEM block',
    ],
  ])('%s', (_what, status, ...errors) => {
    expect(sign(decided, status).errors).toEqual(errors);
  });

  it('cannot change an issued certificate', () => {
    const twice = base64(Buffer.from(certificate, 'base64').toString().repeat(2));
    const expected = ['status.certificate: Forbidden: updates may not modify existing certificate content'];
    expect(sign(issued, { conditions: [approved], certificate }).errors).toEqual([]);
    expect(sign(issued, { conditions: [approved], certificate: twice }).errors).toEqual(expected);
    expect(sign(issued, { conditions: [approved] }).errors).toEqual(expected);
  });
});
