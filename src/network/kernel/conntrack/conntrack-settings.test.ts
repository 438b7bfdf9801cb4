import { expect, test } from 'vitest';
import { CONNTRACK_SETTINGS, conntrackValue } from './conntrack-settings.ts';

const named = (end: string) => CONNTRACK_SETTINGS.find((setting) => setting.endsWith(end))!;

test.each([
  ['timeout_close_wait', '60\n', 2, '3600'],
  ['timeout_close_wait', '3600\n', 2, undefined],
  ['timeout_close_wait', '7200\n', 2, '3600'],
  ['timeout_established', '432000\n', 2, '86400'],
  ['timeout_established', '600\n', 2, undefined],
  ['conntrack_max', '65536\n', 2, '131072'],
  ['conntrack_max', '131072\n', 8, '262144'],
  ['conntrack_max', '1048576\n', 8, undefined],
  ['conntrack_max', '\n', 8, undefined],
  ['conntrack_max', 'what', 8, undefined],
])('%s of %j with %d cores becomes %s', (setting, content, cores, value) => {
  expect(conntrackValue(named(setting), content, cores)).toBe(value);
});
