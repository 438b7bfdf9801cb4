/**
 * Lists every variable and every cache of a module, and why it is not an argument: what one caller leaves in it is seen by
 * all others, in the same process and in the next test. A new one fails this test until its reason is listed. What follows
 * from an immutable object alone is a `memoized` function (`src/base/collections/memoized.ts`) and need not be listed.
 */
import { expect, it } from 'vitest';
import { isTest, sourcesBelow } from './source.ts';

/** Reason why a variable belongs to the module. */
type Reason =
  /** The variable keeps a result that is the same whoever asks. */
  | 'result'
  /** The variable marks objects, or keeps what belongs to one of them and goes with it. */
  | 'object'
  /** The variable is scratch space of a synchronous function, which leaves nothing in it. */
  | 'scratch'
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
    collected: 'memory',
    movable: 'object',
    releasedBytes: 'memory',
    uncollectedBytes: 'memory',
  },
  'src/base/programs/process-lock.ts': { attempts: 'number' },
  'src/base/time/timestamp.ts': { second: 'result', text: 'result' },
  'src/cel-kubernetes/environment.ts': { environment: 'result' },
  // Key lists of the objects of one evaluation, which ends in the same turn.
  'src/cel/values/map.ts': { listed: 'result' },
  'src/cli/up/settings/reservations.ts': { reservations: 'number' },
  'src/controllers/workloads/cron-job/next-run.ts': { zones: 'result' },
  'src/controllers/workloads/job/indexes.ts': { counted: 'result' },
  'src/federation/dns/providers/rfc2136/driver.ts': { names: 'scratch' },
  'src/federation/dns/providers/rfc2136/reply.ts': { names: 'scratch' },
  'src/kinds/custom/rules/declared-type.ts': { known: 'result', objects: 'number' },
  'src/kinds/custom/rules/run-rules.ts': { known: 'result' },
  'src/kinds/groups/batch/cron-schedule.ts': { zones: 'result' },
  'src/kinds/groups/extension/admissionregistration/expressions/environments.ts': { known: 'result' },
  'src/kinds/groups/extension/apiextensions/json-schema-props.ts': { unions: 'result' },
  'src/network/dns/zone/authority.ts': { names: 'scratch' },
  'src/node/simulated/lifecycle/ids.ts': { images: 'result' },
  'src/node/simulated/rules/pattern.ts': { compiled: 'result' },
  'src/protocols/dns-message/message.ts': { names: 'scratch' },
  'src/protocols/dns-message/write.ts': { names: 'scratch' },
  'src/protocols/protobuf/message.ts': { shared: 'scratch' },
  'src/protocols/spdy/header-inflater.ts': { dictionary: 'result' },
  'src/schema/short-json.ts': { longTexts: 'result' },
  'src/server/access/audit/event.ts': { lastText: 'result', lastTime: 'result' },
  'src/server/access/authz/impersonation/impersonation.ts': { constraints: 'object' },
  'src/server/objects/cache/definitions/definition-marks.ts': { known: 'result' },
  'src/server/objects/cache/entry/encoding.ts': { heads: 'result' },
  'src/server/objects/managed-fields/track.ts': { signatures: 'result' },
  'src/server/objects/managed-fields/known-updates.ts': {
    lastNumber: 'number',
    outcomes: 'result',
    signatures: 'result',
  },
  'src/server/objects/managed-fields/manager-name.ts': { unprintablePattern: 'result' },
  'src/server/objects/managed-fields/stored/interned-sets.ts': {
    lastId: 'number',
    sets: 'object',
    templates: 'result',
    trees: 'result',
    unordered: 'result',
  },
  'src/server/objects/managed-fields/stored/manager-list.ts': {
    byKey: 'result',
    byPacked: 'result',
    packed: 'result',
    recent: 'result',
  },
  'src/server/objects/managed-fields/stored/stored-managers.ts': { sharedTexts: 'result' },
  'src/server/objects/reads/watch-channel.ts': { addedEvents: 'result' },
  'src/server/operations/admission/plugins/pod-security/controls/all.ts': { known: 'result' },
  'src/server/operations/admission/policies/mutating.ts': { rounds: 'object' },
  'src/server/operations/admission/webhooks/mutating.ts': { rounds: 'object' },
  'src/server/serving/codec/yaml.ts': { largeDecoded: 'turns', loading: 'result' },
  'src/server/serving/http/body/request-bodies.ts': { waiting: 'turns' },
  'src/server/serving/http/listen/malformed-request.ts': { answeredEarly: 'object' },
  'src/server/serving/http/node-internals.ts': { collect: 'result' },
  'src/server/serving/http/protocol/http1.ts': { streamedFrom: 'object' },
  'src/server/serving/http/protocol/sliced-output.ts': { turn: 'turns' },
  'src/store/etcd/codec.ts': { out: 'scratch' },
  'src/store/etcd/members/codec.ts': { out: 'scratch' },
  'src/testing/cluster/initial-image.ts': { made: 'result' },
  'src/testing/cluster/keys.ts': { keys: 'result' },
  'src/testing/package-entry.ts': { isKept: 'program' },
};

/** A variable, or an empty collection, cache or other instance that functions write to; words in capitals name constants. */
const VARIABLE =
  /^(?:export )?(?:(?:let|var) (\w+)|const ([a-z]\w*)(?:: [^=\n]+)? = (?:new (?:WeakMap|WeakSet|BoundedMap|FinalizationRegistry|(?!RegExp)[A-Z]\w+(?:<[^(]*>)?\(\w*\);|Array\b)|\[\];))/gm;

const variablesIn = (code: string) =>
  [...code.matchAll(VARIABLE)].map(([, variable, constant]) => variable ?? constant);

it('knows why a variable belongs to its module', () => {
  const sources = sourcesBelow('src').filter(({ path }) => !isTest(path));
  const found = sources.flatMap(({ path, code }) => variablesIn(code).map((name) => `${path} ${name}`));
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
  ['const known = new WeakMap<Kind, string>();', 1],
  ['const known = new Map<string, string>();', 1],
  ['export const names = new NameReader();', 1],
  ['const waiting: Waiting[] = [];', 1],
  ['const known = memoized((kind: Kind) => kind.name);', 0],
  ['const byCode = new Map(entries.map((each) => [each.code, each]));', 0],
  ["const text = new TextDecoder('utf-8');", 0],
  ['const NONE: readonly string[] = [];', 0],
])('%j has %i variables', (code, count) => {
  expect(variablesIn(code)).toHaveLength(count);
});
