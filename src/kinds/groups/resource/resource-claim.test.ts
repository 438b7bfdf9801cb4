import { describe, expect, test } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import { clone } from '../../../base/json/tree.ts';
import type { Kind } from '../../kind.ts';
import { ResourceClaim } from './resource-claim.ts';

const kind: Kind<any> = ResourceClaim;

const exactly = (parts: object = {}) => ({ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com', ...parts } });
const claim = (devices: object) => ({ metadata: { name: 'c', labels: { a: 'b' } }, spec: { devices } });
const errorsOf = (devices: object) => create(kind, claim(devices)).errors;
const errorsOfRequest = (...requests: object[]) => errorsOf({ requests });
const many = <T>(count: number, of: (index: number) => T) => Array.from({ length: count }, (_, index) => of(index));

const REFERENCE =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

describe('defaults', () => {
  test('one device is requested', () => {
    const { object, errors } = create(kind, claim({ requests: [exactly()] }));
    expect(errors).toEqual([]);
    expect(object.spec.devices.requests).toEqual([exactly({ allocationMode: 'ExactCount', count: 1 })]);
    expect(object.status).toEqual({});
  });

  test('All has no count, and tolerations default to Equal', () => {
    const tolerations = [{ key: 'a', value: 'b' }];
    const { object } = create(kind, claim({ requests: [exactly({ allocationMode: 'All', tolerations })] }));
    expect(object.spec.devices.requests[0].exactly).toEqual({
      deviceClassName: 'gpu.example.com',
      allocationMode: 'All',
      tolerations: [{ key: 'a', value: 'b', operator: 'Equal' }],
    });
  });

  test('an empty claim is valid', () => {
    const { object, errors } = create(kind, { metadata: { name: 'c' } });
    expect(errors).toEqual([]);
    expect(object.spec).toEqual({ devices: {} });
  });
});

describe('a request', () => {
  const at = 'spec.devices.requests[0]';

  test.each<[object[], ...string[]]>([
    [[{ name: 'x' }], `${at}: Required value: exactly one of \`exactly\` or \`firstAvailable\` is required`],
    [
      [{ ...exactly(), firstAvailable: [{ name: 'a', deviceClassName: 'b' }] }],
      `${at}: Invalid value: null: exactly one of \`exactly\` or \`firstAvailable\` is required, but multiple fields are set`,
    ],
    [[exactly({ deviceClassName: '' })], `${at}.exactly.deviceClassName: Required value`],
    [[exactly({ count: -1 })], `${at}.exactly.count: Invalid value: -1: must be greater than zero`],
    [
      [exactly({ allocationMode: 'All', count: 2 })],
      `${at}.exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'`,
    ],
    [
      [exactly({ allocationMode: 'Some' })],
      `${at}.exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"`,
    ],
    [[exactly({ selectors: [{}] })], `${at}.exactly.selectors[0].cel: Required value`],
    [
      [exactly({ selectors: [{ cel: { expression: 'x'.repeat(10241) } }] })],
      `${at}.exactly.selectors[0].cel.expression: Too long: may not be more than 10240 bytes`,
    ],
    [
      [exactly({ selectors: many(33, () => ({ cel: { expression: 'true' } })) })],
      `${at}.exactly.selectors: Too many: 33: must have at most 32 items`,
    ],
    [
      [
        exactly({
          tolerations: [
            { operator: 'Exists', value: 'v' },
            { operator: 'Near', effect: 'Slow' },
          ],
        }),
      ],
      `${at}.exactly.tolerations[0].value: Invalid value: "v": must be empty for operator \`Exists\``,
      `${at}.exactly.tolerations[1].operator: Unsupported value: "Near": supported values: "Equal", "Exists"`,
      `${at}.exactly.tolerations[1].effect: Unsupported value: "Slow": supported values: "NoExecute", "NoSchedule", "None"`,
    ],
    [[exactly(), exactly()], 'spec.devices.requests[1]: Duplicate value: "gpu"'],
    [
      [
        {
          name: 'x',
          firstAvailable: [
            { name: 'a', deviceClassName: 'b' },
            { name: 'a', deviceClassName: '' },
          ],
        },
      ],
      `${at}.firstAvailable[1].deviceClassName: Required value`,
      `${at}.firstAvailable[1]: Duplicate value: "a"`,
    ],
  ])('case %#', (requests, ...errors) => {
    expect(errorsOfRequest(...requests)).toEqual(errors);
  });

  test('items of a list that is too long are not checked', () => {
    expect(errorsOfRequest(...many(33, () => ({})))).toEqual([
      'spec.devices.requests: Too many: 33: must have at most 32 items',
    ]);
  });
});

test.each<[object, ...string[]]>([
  [{ requests: ['gpu'], matchAttribute: 'example.com/numa' }],
  [{ requests: ['any/a'], distinctAttribute: 'example.com/numa' }],
  [
    { requests: ['gpu', 'gpu', 'other', 'gpu/x', 'a/b/c'], matchAttribute: 'example.com/numa' },
    `spec.devices.constraints[0].requests[2]: Invalid value: "other": ${REFERENCE}`,
    `spec.devices.constraints[0].requests[3]: Invalid value: "gpu/x": ${REFERENCE}`,
    `spec.devices.constraints[0].requests[4]: Invalid value: "a/b/c": ${REFERENCE}`,
    'spec.devices.constraints[0].requests[1]: Duplicate value: "gpu"',
  ],
  [
    {},
    'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
  ],
  [
    { matchAttribute: 'numa' },
    'spec.devices.constraints[0].matchAttribute: Invalid value: "numa": a fully qualified name must be a domain and a name separated by a slash',
  ],
  [
    { matchAttribute: '/' },
    'spec.devices.constraints[0].matchAttribute: Invalid value: "": the domain must not be empty',
    'spec.devices.constraints[0].matchAttribute: Invalid value: "": the name must not be empty',
  ],
])('a constraint: %j', (constraint, ...errors) => {
  const requests = [exactly(), { name: 'any', firstAvailable: [{ name: 'a', deviceClassName: 'b' }] }];
  expect(errorsOf({ requests, constraints: [constraint] })).toEqual(errors);
});

test.each<[object, ...string[]]>([
  [{ opaque: { driver: 'Example.com', parameters: { a: [1] } } }],
  [{}, 'spec.devices.config[0].opaque: Required value'],
  [
    { opaque: {} },
    'spec.devices.config[0].opaque.driver: Required value',
    'spec.devices.config[0].opaque.parameters: Required value',
  ],
  [
    { requests: ['x'], opaque: { driver: 'd', parameters: [1] } },
    `spec.devices.config[0].requests[0]: Invalid value: "x": ${REFERENCE}`,
    'spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
  ],
  [
    { opaque: { driver: `${'d'.repeat(31)}.${'d'.repeat(32)}`, parameters: { a: 'x'.repeat(10240) } } },
    'spec.devices.config[0].opaque.driver: Too long: may not be more than 63 bytes',
    'spec.devices.config[0].opaque.parameters: Too long: may not be more than 10240 bytes',
  ],
])('configuration, case %#', (config, ...errors) => {
  expect(errorsOf({ config: [config] })).toEqual(errors);
});

test('the spec of a claim is immutable, and validated on create only', () => {
  const old = create(kind, claim({ requests: [{ name: 'x' }] })).object;
  expect(update(kind, old, claim({ requests: [{ name: 'x' }] })).errors).toEqual([]);
  expect(update(kind, old, claim({ requests: [{ name: 'y' }] })).errors).toEqual([
    'spec: Invalid value: {"devices":{"requests":[{"name":"y"}]}}: field is immutable',
  ]);
});

describe('the status of a claim', () => {
  const device = { driver: 'example.com', pool: 'node-1', device: 'gpu-0' };
  const result = (parts: object = {}) => ({ request: 'gpu', ...device, ...parts });
  const allocation = (...results: object[]) => ({ devices: { results } });
  const pod = (uid: string) => ({ resource: 'pods', name: 'p', uid });
  const old = create(kind, claim({ requests: [exactly()] })).object;
  const given = { ...clone(old), status: { allocation: allocation(result()), reservedFor: [pod('1')] } };
  const written = (status: object, before: any = old) =>
    update(kind, before, { ...clone(before), status }, { subresource: 'status' });

  test('holds a device for each request', () => {
    const { object, errors } = written({
      allocation: allocation(result()),
      reservedFor: [pod('1')],
      devices: [device],
    });
    expect(errors).toEqual([]);
    expect(object.status.devices).toEqual([device]);
  });

  test.each<[object, string[]]>([
    [
      { reservedFor: [pod('1'), pod('1'), {}] },
      [
        'status.reservedFor[2].resource: Required value',
        'status.reservedFor[2].name: Required value',
        'status.reservedFor[2].uid: Required value',
        'status.reservedFor[1]: Duplicate value: "1"',
        'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
      ],
    ],
    [
      { devices: [device] },
      ['status.devices[0]: Invalid value: "example.com/node-1/gpu-0": must be an allocated device in the claim'],
    ],
    [
      { allocation: allocation(result({ request: 'x', driver: '', pool: 'a//b', shareID: 'x' })) },
      [
        `status.allocation.devices.results[0].request: Invalid value: "x": ${REFERENCE}`,
        'status.allocation.devices.results[0].driver: Required value',
        expect.stringMatching(
          /^status\.allocation\.devices\.results\[0]\.pool: Invalid value: "": a lowercase RFC 1123/,
        ),
        'status.allocation.devices.results[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1',
      ],
    ],
    [
      { allocation: { devices: { config: [{ opaque: { driver: 'd', parameters: {} } }, { source: 'FromSky' }] } } },
      [
        'status.allocation.devices.config[0].source: Required value',
        'status.allocation.devices.config[1].source: Unsupported value: "FromSky": supported values: "FromClaim", "FromClass"',
        'status.allocation.devices.config[1].opaque: Required value',
      ],
    ],
    [
      { allocation: allocation(result({ bindingConditions: ['a', 'a'], bindingFailureConditions: ['a'] })) },
      [
        'status.allocation.devices.results[0].bindingConditions[1]: Duplicate value: "a"',
        'status.allocation.devices.results[0].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions',
      ],
    ],
    [
      { allocation: allocation(result({ bindingConditions: ['a'] })) },
      [
        'status.allocation.devices.results[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions',
      ],
    ],
  ])('must be complete, case %#', (status, errors) => {
    expect(written(status).errors).toEqual(errors);
  });

  test.each<[string, string[]]>([
    ['9d9f8b1c-2f5e-4f0a-9b7c-0a1b2c3d4e5f', []],
    ['9D9F8B1C-2F5E-4F0A-9B7C-0A1B2C3D4E5F', ['uid must be in RFC 4122 normalized form']],
    ['{9d9f8b1c-2f5e-4f0a-9b7c-0a1b2c3d4e5f}', ['uid must be in RFC 4122 normalized form']],
    ['9d9f8b1c-2f5e-4f0a-9b7c-0a1b2c3d4e5g', ['error validating uid: invalid UUID format']],
  ])('needs valid share IDs: %s', (shareID, complaints) => {
    const { errors } = written({ allocation: allocation(result({ shareID })) });
    expect(errors).toEqual(complaints.map((complaint) => expect.stringContaining(complaint)));
  });

  test('has an immutable allocation until it is removed', () => {
    expect(written({ ...given.status }, given).errors).toEqual([]);
    expect(written({}, given).errors).toEqual([]);
    expect(written({ allocation: allocation(result({ device: 'gpu-1' })) }, given).errors).toEqual([
      expect.stringMatching(/^status\.allocation: Invalid value: \{.*\}: field is immutable$/),
    ]);
  });

  test('takes no new consumers while the claim is being deleted', () => {
    const going = { ...clone(given), metadata: { ...given.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } };
    expect(written({ allocation: allocation(result()) }, going).errors).toEqual([]);
    expect(written({ allocation: allocation(result()), reservedFor: [pod('1'), pod('2')] }, going).errors).toEqual([
      'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
    ]);
  });

  test('drops the status of deallocated devices', () => {
    const told = { ...clone(given), status: { allocation: allocation(result()), devices: [device] } };
    const { object, errors } = written({ devices: [device] }, told);
    expect(errors).toEqual([]);
    expect(object.status).toEqual({});
  });

  test('can hold network data', () => {
    const networked = (networkData: object) =>
      written({ allocation: allocation(result()), devices: [{ ...device, networkData }] }).errors;
    const at = 'status.devices[0].networkData';
    expect(networked({ interfaceName: 'eth1', ips: ['10.9.8.7/24', '2001:db8::1/64'] })).toEqual([]);
    expect(
      networked({ interfaceName: 'x'.repeat(257), ips: ['10.9.8.7', '010.9.8.7/24', '::ffff:10.9.8.7/120'] }),
    ).toEqual([
      `${at}.interfaceName: Too long: may not be more than 256 bytes`,
      `${at}.ips[0]: Invalid value: "10.9.8.7": must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)`,
      `${at}.ips[1]: Invalid value: "010.9.8.7/24": must be in canonical form ("10.9.8.7/24")`,
      `${at}.ips[2]: Invalid value: "::ffff:10.9.8.7/120": must be in canonical form ("10.9.8.7/24")`,
    ]);
  });

  test('can hold conditions and data', () => {
    const conditions = many(9, (index) => ({
      type: `T${index}`,
      status: 'True',
      reason: 'R',
      message: '',
      lastTransitionTime: '2026-01-02T03:04:05Z',
    }));
    const devices = [{ ...device, conditions, data: 'x' }];
    expect(written({ allocation: allocation(result()), devices }).errors).toEqual([
      'status.devices[0].conditions: Too many: 9: must have at most 8 items',
      'status.devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object',
    ]);
  });
});
