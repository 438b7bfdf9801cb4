import { describe, expect, test } from 'vitest';
import { create, update } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { ResourceSlice } from './resource-slice.ts';

const kind: Kind<any> = ResourceSlice;

const pool = { name: 'node-1', generation: 1, resourceSliceCount: 1 };
const slice = (spec: object = {}) => ({
  metadata: { name: 's' },
  spec: { driver: 'gpu.example.com', pool, nodeName: 'node-1', ...spec },
});
const errorsOf = (spec: object) => create(kind, slice(spec)).errors;
const errorsOfDevice = (device: object, spec: object = {}) =>
  errorsOf({ devices: [{ name: 'd', ...device }], ...spec });
const many = <T>(count: number, of: (index: number) => T) => Array.from({ length: count }, (_, index) => of(index));
const NODES = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required';
const term = { matchExpressions: [{ key: 'a', operator: 'Exists' }] };

describe('a slice', () => {
  test.each<[object, string[]]>([
    [{}, []],
    [
      { driver: '', pool: {} },
      [
        'spec.driver: Required value',
        'spec.pool.name: Required value',
        'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
      ],
    ],
    [
      { pool: { ...pool, generation: -1 } },
      ['spec.pool.generation: Invalid value: -1: must be greater than or equal to zero'],
    ],
    [{ nodeName: undefined }, [`spec: Required value: ${NODES}`]],
    [
      { nodeName: '' },
      [
        'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
        `spec: Required value: ${NODES}`,
      ],
    ],
    [
      { allNodes: true },
      [`spec: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${NODES}, but multiple fields are set`],
    ],
    [{ allNodes: false }, ['spec.allNodes: Invalid value: false: must be either unset or set to true']],
    [{ nodeName: undefined, nodeSelector: { nodeSelectorTerms: [term] } }, []],
    [
      { nodeName: undefined, nodeSelector: { nodeSelectorTerms: [term, term] } },
      [
        expect.stringMatching(
          /^spec\.nodeSelector\.nodeSelectorTerms: Invalid value: \[.*\]: must have exactly one node selector term$/,
        ),
      ],
    ],
    [
      { devices: [{ name: 'd' }], sharedCounters: [{ name: 'c', counters: { m: { value: '1' } } }] },
      ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
    ],
    [
      { sharedCounters: [{ name: '', counters: {} }, { name: 'c', counters: { M: { value: '1' } } }, { name: 'c' }] },
      [
        'spec.sharedCounters[0].name: Required value',
        'spec.sharedCounters[0].counters: Required value',
        expect.stringMatching(/^spec\.sharedCounters\[1]\.counters: Invalid value: "M": a lowercase RFC 1123 label/),
        'spec.sharedCounters[2].counters: Required value',
        'spec.sharedCounters[2]: Duplicate value: "c"',
      ],
    ],
  ])('case %#', (spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors);
  });

  test('has a limit on devices, which is lower for large ones', () => {
    expect(errorsOf({ devices: many(129, (index) => ({ name: `d${index}` })) })).toEqual([
      'spec.devices: Too many: 129: must have at most 128 items',
    ]);
    const taints = [{ key: 'a', effect: 'None' }];
    expect(errorsOf({ devices: many(65, (index) => ({ name: `d${index}`, taints })) })).toEqual([
      'spec.devices: Too many: 65: must have at most 64 items',
    ]);
  });

  test('can be selected by node and driver', () => {
    const { object } = create(kind, slice());
    const fields = Object.entries(kind.selectable ?? {}).map(([name, of]) => [name, of(object)]);
    expect(Object.fromEntries(fields)).toEqual({ 'spec.nodeName': 'node-1', 'spec.driver': 'gpu.example.com' });
  });

  test('has an immutable node, pool and driver', () => {
    const { object } = create(kind, slice());
    const spec = { driver: 'x', pool: { ...pool, name: 'y', generation: 2 }, nodeName: undefined, allNodes: true };
    expect(update(kind, object, slice(spec)).errors).toEqual([
      'spec.pool.name: Invalid value: "y": field is immutable',
      'spec.driver: Invalid value: "x": field is immutable',
      'spec.nodeName: Invalid value: null: field is immutable',
    ]);
  });
});

describe('a device', () => {
  const at = 'spec.devices[0]';
  const ONE = 'exactly one value must be specified';

  test.each<[object, string[]]>([
    [{ attributes: { model: { string: 'a' }, 'example.com/v': { version: '1.2.3-a.1+b' }, n: { ints: [1, 2] } } }, []],
    [
      { attributes: { a: {}, b: { int: 0, bool: false } } },
      [
        `${at}.attributes[a]: Invalid value: "": ${ONE}`,
        `${at}.attributes[b]: Invalid value: {"int":0,"bool":false}: ${ONE}`,
      ],
    ],
    [
      { attributes: { '1a': { int: 1 } } },
      [expect.stringMatching(/^spec\.devices\[0]\.attributes: Invalid value: "1a": a valid C identifier must start/)],
    ],
    [
      { attributes: { a: { version: '1.2' }, b: { string: 'x'.repeat(65) }, c: { versions: ['1.0.0', '01.0.0'] } } },
      [
        `${at}.attributes[a].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0`,
        `${at}.attributes[b].string: Too long: may not be more than 64 bytes`,
        `${at}.attributes[c].versions[1]: Invalid value: "01.0.0": must be a string compatible with semver.org spec 2.0.0`,
      ],
    ],
    [
      { attributes: Object.fromEntries(many(33, (index) => [`a${index}`, { int: 1 }])) },
      [`${at}: Invalid value: 33: the total number of attributes and capacities must not exceed 32`],
    ],
    // Items are counted first, and not checked if there are too many.
    [
      { attributes: Object.fromEntries(many(33, (index) => [`${index}a`, { version: '1.2' }])) },
      [`${at}: Invalid value: 33: the total number of attributes and capacities must not exceed 32`],
    ],
    [
      { attributes: { a: { ints: many(49, (index) => index) } } },
      [`${at}: Invalid value: 49: the total number of attribute values must not exceed 48`],
    ],
    [
      { taints: [{ key: '', effect: 'Slow' }, { key: 'a' }] },
      [
        `${at}.taints[0].key: Invalid value: "": name part must be non-empty`,
        expect.stringContaining('taints[0].key: Invalid value: "": name part must consist of'),
        `${at}.taints[0].effect: Unsupported value: "Slow": supported values: "NoExecute", "NoSchedule", "None"`,
        `${at}.taints[1].effect: Required value`,
      ],
    ],
    [
      { consumesCounters: [{ counterSet: 'c' }, { counterSet: '', counters: { m: { value: '1' } } }] },
      [`${at}.consumesCounters[0].counters: Required value`, `${at}.consumesCounters[1].counterSet: Required value`],
    ],
    [
      { nodeName: 'n' },
      [
        `${at}: Invalid value: null: \`nodeName\`, \`nodeSelector\` and \`allNodes\` can only be set if \`perDeviceNodeSelection\` is set to true in the ResourceSlice spec`,
      ],
    ],
    [
      { bindingFailureConditions: ['a'] },
      [`${at}.bindingConditions: Invalid value: null: bindingConditions are required to use bindingFailureConditions`],
    ],
    [
      { capacity: { m: { value: '1Gi', requestPolicy: { default: '1Gi' } } } },
      [`${at}.capacity[m].requestPolicy: Forbidden: allowMultipleAllocations must be true`],
    ],
    [
      {
        nodeAllocatableResourceMappings: { 'example.com/x': { capacityKey: 'm' }, cpu: { allocationMultiplier: '0' } },
      },
      [
        `${at}.nodeAllocatableResourceMappings[example.com/x]: Invalid value: "example.com/x": must be a node allocatable resource name`,
        `${at}.nodeAllocatableResourceMappings[example.com/x].capacityKey: Not found: "m"`,
        `${at}.nodeAllocatableResourceMappings[cpu].allocationMultiplier: Invalid value: "0": must be positive`,
      ],
    ],
  ])('case %#', (device, errors) => {
    expect(errorsOfDevice(device)).toEqual(errors);
  });

  test('can name its own nodes', () => {
    const ONE_WAY =
      'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec';
    const judged = (device: object) => errorsOfDevice(device, { nodeName: undefined, perDeviceNodeSelection: true });
    expect(judged({ nodeName: 'n' })).toEqual([]);
    expect(judged({ nodeName: '', allNodes: false })).toEqual([
      `${at}.nodeName: Invalid value: "": must not be empty`,
      `${at}.allNodes: Invalid value: false: must be either unset or set to true`,
      `${at}: Required value: ${ONE_WAY}`,
    ]);
    expect(judged({ nodeName: 'n', allNodes: true })).toEqual([
      `${at}: Invalid value: "{\`nodeName\`, \`allNodes\`}": ${ONE_WAY}`,
    ]);
  });

  test('gets the time at which it was tainted', () => {
    const devices = [{ name: 'd', taints: [{ key: 'a', effect: 'None' }] }, { name: 'e' }];
    const { object } = create(kind, slice({ devices }));
    expect(object.spec.devices).toEqual([
      { name: 'd', taints: [{ key: 'a', effect: 'None', timeAdded: '2026-01-02T03:04:05Z' }] },
      { name: 'e' },
    ]);
  });

  test('keeps taints that are already stored', () => {
    const devices = [{ name: 'd', taints: [{ key: 'a', effect: 'Old', timeAdded: '2026-01-01T00:00:00Z' }] }];
    const { object } = create(kind, slice({ devices }));
    expect(update(kind, object, slice({ devices })).errors).toEqual([]);
  });

  test('can account for node resources', () => {
    const mappings = { cpu: { capacityKey: 'cores' } };
    const capacity = { cores: { value: '4' } };
    const { object } = create(
      kind,
      slice({ devices: [{ name: 'd', capacity, nodeAllocatableResourceMappings: mappings }] }),
    );
    expect(object.spec.devices[0].nodeAllocatableResourceMappings).toEqual({
      cpu: { capacityKey: 'cores', allocationMultiplier: '1' },
    });
  });
});

describe('a shared capacity', () => {
  const at = 'spec.devices[0].capacity[m].requestPolicy';
  const judged = (requestPolicy: object) =>
    errorsOfDevice({ allowMultipleAllocations: true, capacity: { m: { value: '10', requestPolicy } } });

  test.each<[object, ...string[]]>([
    [{ default: '1' }],
    [{ default: '2', validValues: ['1', '2', '4'] }],
    [{ default: '2', validRange: { min: '2', max: '8', step: '2' } }],
    [{ validValues: ['1'] }, `${at}.default: Required value: required when validValues is defined`],
    [{ validRange: { min: '1' } }, `${at}.default: Required value: required when validRange is defined`],
    [
      { default: '1', validValues: ['1'], validRange: { min: '1' } },
      `${at}: Forbidden: exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`,
    ],
    [
      { default: '3', validValues: ['2', '1', '11'] },
      `${at}.validValues[1]: Invalid value: "1": values must be sorted in ascending order`,
      `${at}.validValues[2]: Invalid value: "11": option is larger than capacity value: 10`,
      `${at}.validValues: Invalid value: "3": default value is not valid according to the requestPolicy`,
    ],
    [{ default: '1', validRange: {} }, `${at}.validRange.min: Required value: required when validRange is defined`],
    [
      { default: '1', validRange: { min: '11', max: '12' } },
      `${at}.validRange.min: Invalid value: "11": min is larger than capacity value: 10`,
      `${at}.validRange.min: Invalid value: "1": default is less than min: 11`,
      `${at}.validRange.max: Invalid value: "12": max is larger than capacity value: 10`,
    ],
    [
      { default: '9', validRange: { min: '5', max: '4' } },
      `${at}.validRange.max: Invalid value: "5": min is larger than max: 4`,
      `${at}.validRange.max: Invalid value: "9": default is more than max: 4`,
    ],
    [
      { default: '3', validRange: { min: '2', max: '9', step: '9' } },
      `${at}.validRange.step: Invalid value: "9": one step 11 is larger than capacity value: 10`,
      `${at}.validRange.step: Invalid value: "3": value is not a multiple of a given step (9) from (2)`,
      `${at}.validRange.step: Invalid value: "9": value is not a multiple of a given step (9) from (2)`,
    ],
  ])('%j', (policy, ...errors) => {
    expect(judged(policy)).toEqual(errors);
  });
});
