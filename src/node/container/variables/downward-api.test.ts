import { expect, it } from 'vitest';
import { seenPod } from '../../../../test/support/node/seen-pod.ts';
import { metadataField, quoteText } from './downward-api.ts';

it('shows maps sorted by key, with quoted values', () => {
  const pod = seenPod({}, { labels: { b: '2', a: 'say "x"\n', B: '\\' }, annotations: undefined });
  expect(metadataField(pod, 'metadata.labels')).toBe('B="\\\\"\na="say \\"x\\"\\n"\nb="2"');
  expect(metadataField(pod, 'metadata.annotations')).toBe('');
});

it.each([
  ['plain ä 漢 😀', '"plain ä 漢 😀"'],
  ['\x07\b\f\n\r\t\v"\\', '"\\a\\b\\f\\n\\r\\t\\v\\"\\\\"'],
  ['\x00\x1f\x7f', '"\\x00\\x1f\\x7f"'],
  ['\u00a0\u200b\ufeff', '"\\u00a0\\u200b\\ufeff"'],
  ['\u{e0001}', '"\\U000e0001"'],
])('quotes %j as Go does', (text, quoted) => {
  expect(quoteText(text)).toBe(quoted);
});
