import { expect, test } from 'vitest';
import { container, containerErrors, specErrors } from '../../../../test/support/kinds/test-pod.ts';

test.each<[object, ...string[]]>([
  [{ requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1500m', memory: '1024Mi' } }],
  [
    { requests: { cpu: '500m' }, limits: { cpu: '100m' } },
    'requests: Invalid value: "500m": must be less than or equal to cpu limit of 100m',
  ],
  [
    { requests: { 'example.com/gpu': '1' } },
    'limits: Required value: Limit must be set for non overcommitable resources',
  ],
  [
    { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '2' } },
    'requests: Invalid value: "1": must be equal to example.com/gpu limit of 2',
  ],
  [
    { limits: { 'example.com/gpu': '500m' } },
    'limits[example.com/gpu]: Invalid value: "500m": must be an integer',
    'requests[example.com/gpu]: Invalid value: "500m": must be an integer',
  ],
  [{ requests: { cpu: '-1' } }, 'requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  [
    { requests: { disk: '1' } },
    'requests[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
    'requests[disk]: Invalid value: "disk": must be a standard resource for containers',
  ],
  [{ requests: { pods: '1' } }, 'requests[pods]: Invalid value: "pods": must be a standard resource for containers'],
  [{ limits: { 'hugepages-2Mi': '4Mi', cpu: '1' } }],
  [{ limits: { 'hugepages-2Mi': '4Mi' } }, ': Forbidden: HugePages require cpu or memory'],
  [
    { limits: { 'hugepages-2Mi': '3Mi', cpu: '1' } },
    'limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
    'requests[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
  ],
])('resources %j', (resources, ...errors) => {
  const expected = errors.map((error) => (error.startsWith(':') ? `resources${error}` : `resources.${error}`));
  expect(containerErrors({ resources })).toEqual(expected);
});

test('containers name claims that their pod has', () => {
  const resourceClaims = [{ name: 'gpu', resourceClaimName: 'one' }];
  const claims = [{ name: 'gpu' }, { name: 'gpu' }, { name: 'other' }];
  expect(containerErrors({ resources: { claims } }, { resourceClaims })).toEqual([
    'resources.claims[1]: Duplicate value: "gpu"',
    'resources.claims[2]: Not found: "other": must be one of the names in pod.spec.resourceClaims: gpu',
  ]);
});

test.each([
  [{ name: 'a', resourceClaimName: 'b' }, []],
  [{ resourceClaimName: 'b' }, ['.name: Required value']],
  [
    { name: 'a' },
    [': Invalid value: {"name":"a"}: must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'],
  ],
])('a pod claims %j', (claim, errors) => {
  expect(specErrors({ resourceClaims: [claim] })).toEqual(errors.map((error) => `spec.resourceClaims[0]${error}`));
});

test.each<[object, ...string[]]>([
  [{ requests: { cpu: '1' }, limits: { cpu: '2' } }],
  [
    { requests: { cpu: '100m' } },
    'resources.requests[cpu]: Invalid value: "100m": must be greater than or equal to aggregate container requests of 300m',
  ],
  [
    { limits: { cpu: '400m' } },
    'resources.containers[0][cpu].limits: Invalid value: "500m": must be less than or equal to pod limits of 400m',
  ],
  [
    { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } },
    'resources.limits[example.com/gpu]: Unsupported value: "example.com/gpu": supported values: "cpu", "hugepages-", "memory"',
    'resources.requests[example.com/gpu]: Unsupported value: "example.com/gpu": supported values: "cpu", "hugepages-", "memory"',
  ],
  [
    { claims: [{ name: 'a' }], requests: { cpu: '1' } },
    'resources.claims: Forbidden: claims may not be set for Resources at pod-level',
  ],
])('a pod as a whole asks for %j', (resources, ...errors) => {
  const containers = [
    { ...container, resources: { requests: { cpu: '200m' }, limits: { cpu: '500m' } } },
    { ...container, name: 'b', resources: { requests: { cpu: '100m' } } },
  ];
  expect(specErrors({ containers, resources })).toEqual(errors.map((error) => `spec.${error}`));
});

test('the overhead of a pod is an amount', () => {
  expect(specErrors({ overhead: { cpu: '-1' } })).toEqual([
    'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

test('resource names may be those of properties that every object has', () => {
  const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];
  const resources = { requests: Object.fromEntries(names.map((name) => [name, '1'])), limits: { cpu: '1' } };
  expect(containerErrors({ resources }).length).toBeGreaterThanOrEqual(names.length);
});
