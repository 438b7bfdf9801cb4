import { expect, it } from 'vitest';
import { rawJson } from '../../../base/json/raw-json.ts';
import { revisionData, revisionHash } from './history.ts';

it('the data is a patch that replaces the template, with sorted keys', () => {
  const template = {
    spec: { containers: [{ name: 'c', image: 'x', args: ['a && b'], resources: {} }], restartPolicy: 'Always' },
    metadata: { labels: { b: '1', a: '2', 10: '3', 9: '4' } },
  };
  expect(rawJson(revisionData(template as never))).toBe(
    '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"10":"3","9":"4","a":"2","b":"1"}},' +
      '"spec":{"containers":[{"args":["a \\u0026\\u0026 b"],"image":"x","name":"c","resources":{}}],' +
      '"restartPolicy":"Always"}}}}',
  );
});

it('the data has the hash of Kubernetes', () => {
  expect(revisionHash({}, 0)).toBe(expectedName('{}0'));
  expect(revisionHash({ a: '<' }, 12)).toBe(expectedName('{"a":"\\u003c"}12'));
});

/** FNV-1 with big integers, and the letters of Kubernetes' safe names. */
function expectedName(text: string): string {
  let hash = 2166136261n;
  for (const byte of Buffer.from(text)) hash = ((hash * 16777619n) % 2n ** 32n) ^ BigInt(byte);
  return [...hash.toString()].map((digit) => 'bcdfghjklmnpqrstvwxz2456789'[digit.charCodeAt(0) % 27]).join('');
}
