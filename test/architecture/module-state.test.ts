/**
 * Lists every variable of a module, and why it is not an argument: what one caller leaves in it is seen by all others,
 * in the same process and in the next test. A new one fails this test until its reason is listed.
 */
import { expect, it } from 'vitest';
import { isTest, sourcesBelow } from './source.ts';

/** Reason why a variable belongs to the module. */
type Reason =
  /** The variable keeps a result that is the same whoever asks. */
  | 'result'
  /** The variable counts up, to tell things of one process apart. */
  | 'number'
  /** The variable accounts for memory of the thread. */
  | 'memory'
  /** The variable divides work between all callers of the thread. */
  | 'turns'
  /** The variable is set once, by the program. */
  | 'program';

const REASONS: Readonly<Record<string, Readonly<Record<string, Reason>>>> = {
  'src/base/bytes/shared-buffer.ts': {
    allocations: 'number',
    closedPort: 'memory',
    releasedBytes: 'memory',
    uncollectedBytes: 'memory',
  },
  'src/base/programs/process-lock.ts': { attempts: 'number' },
  'src/base/time/timestamp.ts': { second: 'result', text: 'result' },
  'src/cel-kubernetes/environment.ts': { environment: 'result' },
  // Key lists of the objects of one evaluation, which ends in the same turn.
  'src/cel/values/map.ts': { listed: 'result' },
  'src/cli/up/settings/reservations.ts': { reservations: 'number' },
  'src/kinds/custom/rules/declared-type.ts': { objects: 'number' },
  'src/protocols/spdy/dictionary.ts': { dictionary: 'result' },
  'src/server/access/audit/event.ts': { lastText: 'result', lastTime: 'result' },
  'src/server/objects/managed-fields/known-updates.ts': { lastNumber: 'number' },
  'src/server/objects/managed-fields/manager-name.ts': { unprintablePattern: 'result' },
  'src/server/objects/managed-fields/stored/interned-sets.ts': { lastId: 'number' },
  'src/server/serving/codec/yaml.ts': { largeDecoded: 'turns', loading: 'result' },
  'src/server/serving/http/node-internals.ts': { collect: 'result' },
  'src/testing/cluster/initial-image.ts': { made: 'result' },
  'src/testing/cluster/keys.ts': { keys: 'result' },
  'src/testing/package-entry.ts': { isKept: 'program' },
};

const VARIABLE = /^(?:export )?(?:let|var) (\w+)/gm;

it('knows why a variable belongs to its module', () => {
  const sources = sourcesBelow('src').filter(({ path }) => !isTest(path));
  const found = sources.flatMap(({ path, code }) => [...code.matchAll(VARIABLE)].map(([, name]) => `${path} ${name}`));
  const listed = Object.entries(REASONS).flatMap(([path, names]) =>
    Object.keys(names).map((name) => `${path} ${name}`),
  );
  expect(found.sort()).toEqual(listed.sort());
});

it.each([
  ['let count = 0;', 1],
  ['export let count = 0;', 1],
  ['function f() {\n  let count = 0;\n}', 0],
  ['const count = 0;', 0],
])('%j has %i variables', (code, count) => {
  expect([...code.matchAll(VARIABLE)]).toHaveLength(count);
});
