import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import {
  address,
  boolean,
  bytes,
  clusterName,
  count,
  duration,
  file,
  optionalFile,
  port,
  portRange,
  rangesOverlap,
  rate,
  serverNames,
  serverUrl,
  serviceRange,
  switches,
} from './values.ts';

const parsers = {
  address,
  boolean,
  bytes,
  clusterName,
  count,
  duration,
  file,
  optionalFile,
  port,
  portRange,
  rate,
  serviceRange,
  switches,
  serverNames,
  serverUrl,
};

test.each<[keyof typeof parsers, string, unknown]>([
  ['port', '0', 0],
  [
    'switches',
    'services=false,jobs=true',
    new Map([
      ['services', false],
      ['jobs', true],
    ]),
  ],
  ['port', '65535', 65_535],
  ['address', '::1', '::1'],
  ['serverUrl', 'https://127.0.0.1:6443', 'https://127.0.0.1:6443'],
  ['serverUrl', 'http://[::1]:80/fed', 'http://[::1]:80/fed'],
  ['serverNames', 'API.example.org, 192.0.2.7,::1', ['api.example.org', '192.0.2.7', '::1']],
  ['serverNames', '', []],
  ['serviceRange', '10.96.0.0/16', '10.96.0.0/16'],
  ['portRange', '30000-32767', { first: 30_000, last: 32_767 }],
  ['duration', '1h30m', 5_400_000],
  ['duration', '250ms', 250],
  ['bytes', '64Mi', 67_108_864],
  ['bytes', '100', 100],
  ['clusterName', 'dev-2', 'dev-2'],
  ['count', '007', 7],
  ['rate', '2.5', 2.5],
  ['boolean', 'false', false],
  ['file', 'rules.yaml', resolve('rules.yaml')],
  ['file', '/etc/x', '/etc/x'],
  ['optionalFile', '', ''],
  ['optionalFile', 'rules.yaml', resolve('rules.yaml')],
])('%s takes %s', (parser, text, expected) => {
  expect(parsers[parser](text)).toEqual(expected);
});

test.each<[keyof typeof parsers, string]>([
  ['port', '65536'],
  ['port', '-1'],
  ['port', ''],
  ['port', '1e3'],
  ['address', 'localhost'],
  ['serverUrl', 'garbage'],
  ['serverUrl', 'localhost:6443'],
  ['serverUrl', 'https://127.0.0.1:99999'],
  ['serverNames', '*.example.org'],
  ['serverNames', '192.0.2.300'],
  ['serverNames', 'https://api.example.org'],
  ['serviceRange', '10.96.0.0'],
  ['serviceRange', '10.96.0.1/16'],
  ['serviceRange', '10.96.0.0/31'],
  ['serviceRange', 'fd00::/112'],
  ['portRange', '32767-30000'],
  ['portRange', '0-10'],
  ['duration', '5'],
  ['duration', 'm'],
  ['bytes', '1MB'],
  ['clusterName', '../up'],
  ['clusterName', 'Big'],
  ['count', '-1'],
  ['rate', '0'],
  ['boolean', 'yes'],
  ['file', ''],
])('%s rejects %j', (parser, text) => {
  expect(() => parsers[parser](text)).toThrow(/^It must .+\.$/);
});

test.each([
  ['10.96.0.0/16', '10.96.0.0/16', true],
  ['10.0.0.0/8', '10.96.0.0/16', true],
  ['10.96.0.0/16', '10.97.0.0/16', false],
  ['10.244.0.0/16', '10.128.0.0/9', true],
  ['0.0.0.0/8', '255.0.0.0/8', false],
])('%s and %s overlap: %s', (a, b, overlap) => {
  expect(rangesOverlap(a, b)).toBe(overlap);
  expect(rangesOverlap(b, a)).toBe(overlap);
});
