/** Examples of every kind, broken at random places and in random ways, sent with random verbs and options. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Dice } from '../../crash/random.ts';
import type { Attack, AttackContext } from '../attack.ts';
import { breakTree } from '../break-tree.ts';
import type { HttpClient } from '../client.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'examples', 'kinds');
const CONCURRENT = 8;

interface Example {
  readonly collection: string;
  readonly object: any;
}

export const randomRequests: Attack = {
  name: 'random requests',
  async run(context) {
    const examples = await loadExamples(context.admin);
    let left = context.requests;
    const work = async () => {
      while (left-- > 0 && context.target.isRunning) await sendOne(context, examples);
    };
    await Promise.all(Array.from({ length: CONCURRENT }, work));
    await Promise.all(examples.map(({ collection }) => cleanUp(context.admin, collection)));
  },
};

async function loadExamples(client: HttpClient): Promise<Example[]> {
  const objects = readdirSync(EXAMPLES).map((name) => parse(readFileSync(join(EXAMPLES, name), 'utf8')));
  const versions = new Map<string, any[]>();
  const found: Example[] = [];
  for (const object of objects) {
    const { apiVersion, kind } = object;
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    if (!versions.has(root)) versions.set(root, JSON.parse((await client.send('GET', root)).text).resources);
    const resource = versions.get(root)?.find((each) => each.kind === kind && !each.name.includes('/'));
    if (!resource) continue;
    const prefix = resource.namespaced ? `${root}/namespaces/tenant` : root;
    found.push({ collection: `${prefix}/${resource.name}`, object });
  }
  return found;
}

const PATCH_TYPES = ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json'];
const QUERIES = [
  '',
  '?dryRun=All',
  '?fieldValidation=Strict',
  '?limit=-1',
  '?limit=1&continue=x',
  '?resourceVersion=99999999999999999999',
  '?labelSelector=a%3D%3D%3Db',
  '?fieldSelector=a%3Db',
  '?pretty=true',
  '?timeoutSeconds=1',
  '?export=true',
  '?propagationPolicy=Nobody',
  '?gracePeriodSeconds=0',
];

async function sendOne({ admin, tenant, dice }: AttackContext, examples: readonly Example[]): Promise<void> {
  const { collection, object } = pick(dice, examples);
  const client = dice(4) === 0 ? admin : tenant;
  const broken = structuredClone(object);
  const name = `random-${dice(20)}`;
  broken.metadata = { ...broken.metadata, name };
  for (let i = 0; i <= dice(3); i++) breakTree(broken, dice);
  const query = pick(dice, QUERIES);
  const path = `${collection}/${name}${query}`;
  switch (dice(8)) {
    case 0:
    case 1:
    case 2:
      await client.send('POST', `${collection}${query}`, { body: broken });
      return;
    case 3:
      await client.send('PUT', path, { body: broken });
      return;
    case 4:
    case 5: {
      const type = pick(dice, PATCH_TYPES);
      await client.send('PATCH', path, {
        body: type.startsWith('json') ? jsonPatch(dice, broken) : broken,
        type: `application/${type}`,
      });
      return;
    }
    case 6:
      await client.send('DELETE', path);
      return;
    default:
      await client.send('GET', dice(2) === 0 ? path : `${collection}${query}`);
  }
}

function jsonPatch(dice: Dice, value: unknown): object[] {
  const op = pick(dice, ['add', 'replace', 'remove', 'test', 'copy', 'move', 'bogus']);
  const path = pick(dice, [
    '/spec',
    '/metadata/labels',
    '/metadata/name',
    '',
    '/',
    '/~',
    '/spec/containers/-',
    '/status',
    '/__proto__/x',
  ]);
  return Array.from({ length: 1 + dice(3) }, () => ({ op, path, from: '/metadata', value }));
}

async function cleanUp(client: HttpClient, collection: string): Promise<void> {
  const type = 'application/merge-patch+json';
  for (let i = 0; i < 20; i++) {
    const path = `${collection}/random-${i}`;
    const { code } = await client.send('DELETE', `${path}?gracePeriodSeconds=0`);
    if (code === 200) await client.send('PATCH', path, { body: { metadata: { finalizers: null } }, type });
  }
}

function pick<T>(dice: Dice, values: readonly T[]): T {
  return values[dice(values.length)]!;
}
