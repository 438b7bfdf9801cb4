import { describe, expect, test } from 'vitest';
import { amountText, requestsOf, samplesOf } from './samples.ts';

const container = (name: string, requests?: object, more: object = {}) => ({ name, resources: { requests }, ...more });
const pod = (spec: object): any => ({ metadata: { name: 'p' }, spec });

describe('what a pod requests', () => {
  const request = (spec: object, resource = 'cpu', name?: string) => requestsOf([pod(spec)], resource, name).get('p');
  const containers = [container('a', { cpu: '100m', memory: '1Ki' }), container('b', { cpu: '1' })];

  test('is the sum of its containers, sidecars among them', () => {
    const initContainers = [
      container('prepare', { cpu: '9' }),
      container('side', { cpu: '50m' }, { restartPolicy: 'Always' }),
    ];
    expect(request({ containers })).toBe(1100n);
    expect(request({ containers, initContainers })).toBe(1150n);
    expect(request({ containers }, 'cpu', 'a')).toBe(100n);
    expect(request({ containers, initContainers }, 'cpu', 'side')).toBe(50n);
  });

  test('is its pod-level request, with its overhead', () => {
    const whole = { containers, resources: { requests: { cpu: '2' } }, overhead: { cpu: '10m' } };
    expect(request(whole)).toBe(2010n);
    expect(request(whole, 'cpu', 'a')).toBe(100n);
    expect(request({ ...whole, containers: [container('a', { memory: '1Ki' })] }, 'memory')).toBe(1_024_000n);
    expect(() => request(whole, 'example.com/gpu')).toThrow('missing pod-level request for example.com/gpu in Pod p');
  });

  test('must be set for each container', () => {
    expect(() => request({ containers }, 'memory')).toThrow('missing request for memory in container b of Pod p');
    expect(request({ containers }, 'memory', 'a')).toBe(1_024_000n);
    expect(() => request({ containers }, 'cpu', 'c')).toThrow('container c not found in Pod p');
  });
});

const used = (name: string, usage: object) => ({ name, usage });
const measured: any[] = [
  {
    metadata: { name: 'p' },
    ...{ timestamp: '2030-01-01T00:00:10Z', window: '1m0.5s' },
    containers: [used('a', { cpu: '1500001n', memory: '2Ki' }), used('b', { cpu: '1' })],
  },
  { metadata: { name: 'q' }, timestamp: '2030-01-01T00:00:10Z', window: '10s', containers: [] },
];

test('what was measured of a pod is the sum of its containers, if all were measured', () => {
  const time = Date.parse('2030-01-01T00:00:10Z');
  expect(samplesOf(measured, 'cpu', undefined)).toEqual(new Map([['p', { value: 1002n, time, window: 60_500 }]]));
  expect(samplesOf(measured, 'memory', undefined).size).toBe(0);
  expect(samplesOf(measured, 'memory', 'a').get('p')?.value).toBe(2_048_000n);
});

test('what was measured is formatted in the units of its resource', () => {
  expect(amountText(1_500n, 'cpu')).toBe('1500m');
  expect(amountText(64n * 1024n * 1024n * 1000n, 'memory')).toBe('64Mi');
  expect(amountText(2_000n)).toBe('2');
});
