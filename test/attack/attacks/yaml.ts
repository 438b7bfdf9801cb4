import type { Attack } from '../attack.ts';
import { LARGE_BODY_BYTES } from '../client.ts';

const COLLECTION = '/api/v1/namespaces/tenant/configmaps';
const TYPE = 'application/yaml';
/** Number of lexemes that a document may have in the thread that decodes it, with some to spare. */
const LEXEMES = 249_000;
const AT_ONCE = 16;

const times = (count: number, each: (i: number) => string) => Array.from({ length: count }, (_, i) => each(i)).join('');
const pairs = (count: number) => times(count, (i) => `  key-${i}: value ${i}\n`);

/** Returns many aliases inside a node that is an anchor itself. */
const nestedAliases = (anchors: number) =>
  `${times(anchors, (i) => `a${i}: &a${i} x\n`)}b: &b [${times(anchors, (i) => `*a${i} ,`.repeat(20))}x]\nc: *b\n`;

/** Bodies by their demand: most memory, most errors, most copies, the deepest stack, or the longest JSON. */
const BODIES: readonly string[] = [
  `metadata:\n  name: yaml\ndata:\n${pairs(7_000)}`,
  `metadata:\n  name: yaml\ndata:\n${pairs(30_000)}`,
  `[${'[],'.repeat(LEXEMES / 3 - 1)}a]`,
  `{${times(LEXEMES / 3 - 2, (i) => `a${i},`)}a}`,
  `[${','.repeat(LEXEMES)}]`,
  '- a: b: c\n'.repeat(LEXEMES / 14),
  `a: &a\n${pairs(5_000)}b:\n${'- <<: *a\n'.repeat(90)}`,
  `a: &a\n${pairs(25_000)}b:\n${'- <<: *a\n'.repeat(90)}`,
  nestedAliases(90),
  nestedAliases(2_000),
  `a: &a [${'1,'.repeat(20_000)}1]\nb: [${Array(90).fill('*a')}]\n`,
  '&a '.repeat(20_000),
  '&a '.repeat(LARGE_BODY_BYTES / 3),
  '['.repeat(50_000),
  '['.repeat(LARGE_BODY_BYTES),
  '{? '.repeat(LARGE_BODY_BYTES / 3),
  `a: "${'\\x01'.repeat(LARGE_BODY_BYTES / 4)}"`,
  `a: |\n  ${'\u0001'.repeat(LARGE_BODY_BYTES)}\n`,
  `a: "${'\n'.repeat(LARGE_BODY_BYTES)}"`,
  `a: ${'x '.repeat(LARGE_BODY_BYTES / 2)}`,
  `a: ${'x\n  '.repeat(LARGE_BODY_BYTES / 4)}`,
  '#\n'.repeat(LARGE_BODY_BYTES / 2),
];

/** Sends YAML that is decoded on the event loop and in a thread, one after the other and many at a time. */
export const largeYaml: Attack = {
  name: 'large YAML',
  async run({ tenant }) {
    for (const body of BODIES) await tenant.send('POST', COLLECTION, { body, type: TYPE });
    const apply = { body: BODIES[1], type: 'application/apply-patch+yaml' };
    await tenant.send('PATCH', `${COLLECTION}/yaml?fieldManager=attack`, apply);
    const body = BODIES[2];
    await Promise.all(Array.from({ length: AT_ONCE }, () => tenant.send('POST', COLLECTION, { body, type: TYPE })));
    await tenant.send('DELETE', `${COLLECTION}/yaml`);
  },
};
