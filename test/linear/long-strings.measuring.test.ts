/**
 * A long string in any field takes time in proportion to its length: no pattern backtracks. Messages quote only its
 * beginning. Processor time is measured; a pattern that backtracks needs seconds for these strings, others microseconds.
 */
import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import type { HookContext, Kind } from '../../src/kinds/kind.ts';
import { DecodeError, decode } from '../../src/schema/decode/decode.ts';
import type { Schema } from '../../src/schema/schema.ts';
import { type Part, partsIn } from '../kinds/lists-in.ts';
import { exampleOf } from '../support/kinds/examples.ts';
import { setAt } from './grown.ts';
import { validated } from './write-path.ts';

const CHARACTERS = 40_000;
const MAX_MS = 150;
const ROUNDS = 3;
/** A message quotes at most the beginning, and its details may repeat that. */
const MAX_MESSAGE_CHARACTERS = 8_000;

const repeated = (text: string, end = '') => text.repeat(CHARACTERS / text.length) + end;

/** Nearly valid names, paths, addresses, numbers, images, schedules and references. */
const HOSTILE = [
  repeated('a', '!'),
  repeated('a.', '!'),
  repeated('a-', '!'),
  repeated('/', 'a/'),
  repeated('/a'),
  repeated("['"),
  repeated('0', 'x'),
  repeated('1,'),
  repeated(' ', 'x'),
  repeated('1:', 'g'),
  repeated('*/1 '),
  repeated('$(A)'),
];

function textsIn(schema: Schema): Part[] {
  return partsIn(schema).filter(({ schema: { type } }) => type === 'string' || type === 'intOrString');
}

/** Returns the messages for a write of the object, or the error that it ends with. */
function written(kind: Kind, input: object): string[] {
  const { apiVersion, schema } = kind.hub;
  const hook: HookContext = { now: '2026-01-02T03:04:05Z', uuid: () => 'u', apiVersion, subresource: undefined };
  try {
    const object: any = decode(schema, input);
    kind.onCreate?.(object, hook);
    const errors = validated(kind, object, undefined);
    // Otherwise the object has everything that warnings may rely on.
    if (!errors.some((each) => each.includes('Required value'))) kind.warnings?.(object, undefined);
    for (const { cell } of kind.columns ?? []) cell(object, 0);
    return errors;
  } catch (error) {
    if (error instanceof DecodeError) return [];
    throw error;
  }
}

function isCovered({ kind }: Kind, { path, schema }: Part): boolean {
  if (schema.type === 'string' && schema.enum) return true;
  if (path.startsWith('metadata.')) return kind !== 'ConfigMap';
  return /[tT]emplate\.(spec|metadata)\b|(init|ephemeral)Containers\[\]/.test(path);
}

describe.each(allKinds.map((kind) => ({ name: kind.kind, kind })))('$name', ({ kind }) => {
  it('takes little time for long strings, and says little about them', () => {
    const faults: string[] = [];
    for (const text of textsIn(kind.hub.schema)) {
      if (isCovered(kind, text)) continue;
      for (const hostile of HOSTILE) {
        const input = setAt(exampleOf(kind), text.way, hostile);
        let least = Number.POSITIVE_INFINITY;
        for (let round = 0; round < ROUNDS && least > MAX_MS; round++) {
          const before = process.cpuUsage();
          const longest = written(kind, input).reduce((most, { length }) => Math.max(most, length), 0);
          const { user, system } = process.cpuUsage(before);
          least = Math.min(least, (user + system) / 1000);
          if (round === 0 && longest > MAX_MESSAGE_CHARACTERS) faults.push(`${text.path}: a message of ${longest}`);
        }
        if (least > MAX_MS) faults.push(`${text.path}: ${least} ms for ${hostile.slice(0, 10)}`);
      }
    }
    expect(faults).toEqual([]);
  }, 600_000);
});
