import { RE2JS } from 're2js';
import { expect, it } from 'vitest';
import { LongMatch } from './long-match.ts';

const matched = (pattern: string, text: string) => new LongMatch(RE2JS.compile(pattern), text).decide().next().value;

const texts = ['', 'a', 'ab', 'b', 'a\nb', 'aé', '😀', 'a😀b', '\ud83d', 'xay', 'foo bar', 'foobar', 'A', '.a.', 'aa!'];
const long = [...texts, ...texts.flatMap((text) => [text.repeat(3_000), `${'a'.repeat(50_000)}${text}`])];

it.each([
  '^a+$',
  'b',
  '^[a-z]([-a-z]*[a-z])?$',
  '(?m)^b$',
  '\\bbar\\b',
  '\\Boo',
  '(?i)^A+$',
  '^\\p{L}+$',
  '^.$',
  '^..$',
  '[^a]$',
  '^$',
  '',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '😀',
  '^[^😀]*$',
])('a match with a long text agrees with a match of a short text: %s', (pattern) => {
  const expression = RE2JS.compile(pattern);
  for (const text of long) {
    expect([text.slice(-20), matched(pattern, text)]).toEqual([text.slice(-20), expression.matcher(text).find()]);
  }
});

it('a match with a long text continues where its turn ended', () => {
  let asked = 0;
  const match = new LongMatch(RE2JS.compile('^a+$'), 'a'.repeat(1_000_000)).decide({ isSpent: () => ++asked > 0 });
  let parts = 1;
  while (!match.next().done) parts++;
  expect(parts).toBeGreaterThan(30);
  expect(parts).toBeLessThan(100);
  expect(matched('^a+$', `${'a'.repeat(1_000_000)}b`)).toBe(false);
});

it('a match with a long text gives up when there are too many states', () => {
  let seed = 1;
  const letter = () => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return 'ab'[(seed >> 16) & 1];
  };
  const text = Array.from({ length: 200_000 }, letter).join('');
  expect(matched('[ab]*a[ab]{900}[xy]', text)).toBe('too long');
});
