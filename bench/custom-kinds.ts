/**
 * Measures custom kinds: the cost of many definitions, the delay until one is served, and lists of their objects beside
 * those of a built-in kind.
 */
import { readFileSync } from 'node:fs';
import type { Agent } from 'node:https';
import { join } from 'node:path';
import { get, post } from './http.ts';
import { type Program, startQd } from './programs.ts';
import type { Figure } from './report.ts';

interface CustomKindFigures {
  readonly root: string;
  readonly directory: string;
  readonly agent: Agent;
  readonly wanted: (name: string) => boolean;
  readonly record: (figure: Figure) => void;
}

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const DEFINITION_COUNT = 500;
const OBJECT_COUNT = 1_000;
const STARTS = 3;
const LISTS = 40;

export async function measureCustomKinds({ root, directory, agent, wanted, record }: CustomKindFigures): Promise<void> {
  if (!wanted('custom kinds')) return;
  await withQd(root, join(directory, 'custom-objects'), async (qd) => {
    const served = await timeUntilServed(qd, agent);
    record({ name: 'custom kinds, a definition is served', unit: 'ms', qd: served, promise: 50 });
    const { custom, builtIn } = await compareLists(qd, agent);
    record({ name: 'custom kinds, list of 1,000', unit: '/s', qd: custom, bare: builtIn });
  });
  // Nothing but definitions: objects take time to read, too.
  const full = join(directory, 'custom-kinds');
  await withQd(root, full, async (qd) => {
    for (let i = 0; i < DEFINITION_COUNT; i++) await post(qd, DEFINITIONS, JSON.stringify(definition(i)), agent);
  });
  const [none, many] = [
    { ms: Infinity, mb: Infinity },
    { ms: Infinity, mb: Infinity },
  ];
  const empty = join(directory, 'no-custom-kinds');
  for (let round = 0; round < STARTS; round++) {
    for (const [path, best] of [
      [empty, none],
      [full, many],
    ] as const) {
      const program = await startQd(root, path);
      best.ms = Math.min(best.ms, program.readyAfter);
      best.mb = Math.min(best.mb, anonymousMemory(program.pid));
      await program.stop();
    }
  }
  record({ name: 'custom kinds, start with 500 more', unit: 'ms', qd: many.ms - none.ms, promise: 300 });
  record({ name: 'custom kinds, memory of 500 after a start', unit: 'MB', qd: many.mb - none.mb, promise: 60 });
}

async function withQd(root: string, directory: string, use: (qd: Program) => Promise<void>): Promise<void> {
  const qd = await startQd(root, directory);
  try {
    await use(qd);
  } finally {
    await qd.stop();
  }
}

/** Memory without the files that are mapped: the kernel can drop those at any time. */
function anonymousMemory(pid: number): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Measures the time from sending a definition to the first list of its objects; best of several. */
async function timeUntilServed(qd: Program, agent: Agent): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = DEFINITION_COUNT; i < DEFINITION_COUNT + 5; i++) {
    const body = JSON.stringify(definition(i));
    const began = performance.now();
    await post(qd, DEFINITIONS, body, agent);
    const path = `/apis/${groupOf(i)}/v1/namespaces/default/things${i}`;
    while (!(await get(qd, path, agent)).includes(`"Thing${i}List"`));
    best = Math.min(best, performance.now() - began);
  }
  return best;
}

/** Lists a second of 1,000 objects with the same content, by turns. */
async function compareLists(qd: Program, agent: Agent): Promise<{ custom: number; builtIn: number }> {
  const maps = '/api/v1/namespaces/default/configmaps';
  const things = `/apis/${groupOf(DEFINITION_COUNT)}/v1/namespaces/default/things${DEFINITION_COUNT}`;
  const text = 'x'.repeat(1_000);
  for (let i = 0; i < OBJECT_COUNT; i++) {
    const metadata = { name: `object-${i}` };
    const thing = { apiVersion: `${groupOf(DEFINITION_COUNT)}/v1`, kind: `Thing${DEFINITION_COUNT}`, metadata };
    await post(qd, things, JSON.stringify({ ...thing, spec: { text } }), agent);
    await post(qd, maps, JSON.stringify({ metadata, data: { text } }), agent);
  }
  const spent = { custom: 0, builtIn: 0 };
  for (let round = 0; round < LISTS; round++) {
    for (const [name, path] of [
      ['custom', things],
      ['builtIn', maps],
    ] as const) {
      const began = performance.now();
      await get(qd, path, agent);
      // The first ones fill caches.
      if (round > LISTS / 4) spent[name] += performance.now() - began;
    }
  }
  const perSecond = (milliseconds: number) => ((LISTS * 3) / 4 / milliseconds) * 1_000;
  return { custom: perSecond(spent.custom), builtIn: perSecond(spent.builtIn) };
}

/** Ten kinds to a group, as operators have them. */
const groupOf = (index: number) => `group${Math.floor(index / 10)}.bench.example.com`;

/** A definition of 1 to 250 KB, 30 KB as a rule and 70 KB on average: those of public operators are as large. */
function definition(index: number): object {
  const group = groupOf(index);
  const plural = `things${index}`;
  const sections = [1, 8, 12, 15, 100][index % 5]!;
  const properties = Object.fromEntries(Array.from({ length: sections }, (_, i) => [`section${i}`, section(i)]));
  const spec = { type: 'object', properties: { text: { type: 'string' }, ...properties } };
  const rules = [{ rule: 'self.text.size() < 100000', message: 'the text is too long' }];
  const schema = { type: 'object', properties: { spec: { ...spec, 'x-kubernetes-validations': rules } } };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind: `Thing${index}` }, versions: [version] },
  };
}

/** Schema of about 2.5 KB. */
function section(index: number): object {
  const description =
    'Describes a setting of the operator, its unit and its default, and what happens when it is left out.';
  const fields = Array.from({ length: 15 }, (_, i) => [
    `setting${index}and${i}`,
    i % 5 === 4
      ? { description, type: 'array', items: { type: 'string', maxLength: 253 } }
      : { description, type: i % 2 ? 'string' : 'integer' },
  ]);
  return { description, type: 'object', properties: Object.fromEntries(fields) };
}
