import { expect, test } from 'vitest';
import { propertyOf } from '../../base/flag.ts';
import { nodeConfig } from './node-config.ts';
import { type NodeFlags, nodeFlags } from './node-flags.ts';

/** Parses a command line as far as flags repeat. */
function config(...given: readonly (readonly [name: string, ...values: string[]])[]) {
  const parsed: Record<string, unknown> = {};
  for (const [name, ...values] of given) {
    const description = nodeFlags.find(({ spec }) => spec.startsWith(`${name} `))!;
    for (const text of values) {
      const parse = description.parse as (text: string, previous?: unknown) => unknown;
      parsed[propertyOf(description)] = parse(text, parsed[propertyOf(description)]);
    }
  }
  return nodeConfig(parsed as NodeFlags, true);
}

test('labels, taints and reservations', () => {
  const found = config(
    ['--node-labels', 'disk=ssd,example.com/zone=a'],
    ['--register-with-taints', 'gpu=true:NoSchedule,old:PreferNoSchedule'],
    ['--system-reserved', 'cpu=500m,memory=1Gi'],
    ['--kube-reserved', 'cpu=1,ephemeral-storage=1Gi'],
  );
  expect(found).toMatchObject({
    labels: { disk: 'ssd', 'example.com/zone': 'a' },
    taints: [
      { key: 'gpu', value: 'true', effect: 'NoSchedule' },
      { key: 'old', effect: 'PreferNoSchedule' },
    ],
    reserved: { cpu: '1500m', memory: '1Gi', 'ephemeral-storage': '1Gi' },
  });
});

test('thresholds replace the default', () => {
  expect(config(['--eviction-hard', 'memory.available<1Gi,nodefs.available<5%']).thresholds).toEqual([
    { signal: 'memory.available', least: 2 ** 30 },
    { signal: 'nodefs.available', least: { fraction: 0.05 } },
  ]);
  expect(config(['--eviction-hard', '']).thresholds).toEqual([]);
  expect(config().thresholds).toHaveLength(5);
});

test('mirrors and insecure registries may be repeated, and an empty text drops them', () => {
  const { registries } = config(
    ['--registry-mirror', 'docker.io=http://a:5000', 'docker.io=https://b', 'quay.io=https://c'],
    ['--insecure-registry', 'lab:5000'],
  );
  expect(registries).toEqual({
    mirrors: { 'docker.io': ['http://a:5000', 'https://b'], 'quay.io': ['https://c'] },
    insecure: ['lab:5000'],
  });
  expect(config(['--registry-mirror', 'docker.io=http://a', '']).registries.mirrors).toEqual({});
});

test('processes of a pod are limited unless the limit is -1', () => {
  expect(config().podPidsLimit).toBe(4096);
  expect(config(['--pod-max-pids', '100']).podPidsLimit).toBe(100);
  expect(config(['--pod-max-pids', '-1']).podPidsLimit).toBeUndefined();
});

test('the image "host" is allowed by the flag, or by default in a private cluster', () => {
  expect(nodeConfig({}, true).allowsHostImage).toBe(true);
  expect(nodeConfig({}, false).allowsHostImage).toBe(false);
  expect(nodeConfig({ allowHostImage: true }, false).allowsHostImage).toBe(true);
  expect(nodeConfig({ allowHostImage: false }, true).allowsHostImage).toBe(false);
});

test.each([
  ['--registry-mirror', 'docker.io'],
  ['--registry-mirror', 'docker.io=ftp://a'],
  ['--insecure-registry', 'http://lab:5000'],
  ['--node-labels', 'disk'],
  ['--node-labels', 'disk=a b'],
  ['--register-with-taints', 'gpu=true'],
  ['--register-with-taints', 'gpu=true:Never'],
  ['--max-pods', '0'],
  ['--pod-max-pids', '0'],
  ['--pod-max-pids', '-2'],
  ['--pod-max-pids', '1e3'],
  ['--system-reserved', 'cpu=lots'],
  ['--system-reserved', 'gpu=1'],
  ['--kube-reserved', 'memory=-1Gi'],
  ['--eviction-hard', 'memory.available<'],
  ['--eviction-hard', 'memory.free<1Gi'],
  ['--eviction-hard', 'nodefs.available<many%'],
  ['--allowed-unsafe-sysctls', 'net.*.x y'],
])('%s %s is rejected', (name, text) => {
  expect(() => config([name, text])).toThrow();
});
