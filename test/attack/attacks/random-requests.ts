/** Examples of every kind, broken at random places and in random ways, sent with random verbs and options. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Dice } from '../../crash/random.ts';
import type { Attack, AttackContext } from '../attack.ts';
import { breakTree } from '../break-tree.ts';
import type { HttpClient } from '../client.ts';
import { pick, randomHeaders, randomPath, randomQuery, randomReview, randomText } from '../random-parts.ts';

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
const BODY_TYPES = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf', 'text/plain', ''];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

async function sendOne(context: AttackContext, examples: readonly Example[]): Promise<void> {
  const { admin, tenant, nobody, dice } = context;
  const client = pick(dice, [admin, tenant, tenant, tenant, nobody]);
  const { collection, object } = pick(dice, examples);
  const name = `random-${dice(20)}`;
  const headers = randomHeaders(dice);
  switch (dice(12)) {
    case 0: {
      const { path, body } = randomReview(dice);
      await client.send('POST', path, { body, headers });
      return;
    }
    case 1: {
      const method = pick(dice, METHODS);
      const body = method === 'GET' || method === 'HEAD' ? undefined : randomText(dice);
      await client.send(method, randomPath(dice, collection, name), { body, type: pick(dice, BODY_TYPES), headers });
      return;
    }
    case 2:
      await client.send('POST', collection, { body: randomText(dice), type: pick(dice, BODY_TYPES), headers });
      return;
    default:
      await sendBroken(client, dice, { collection, name, headers, object: brokenCopy(dice, object, name) });
  }
}

function brokenCopy(dice: Dice, object: any, name: string): any {
  const broken = structuredClone(object);
  broken.metadata = { ...broken.metadata, name };
  for (let i = dice(4); i > 0; i--) breakTree(broken, dice);
  return broken;
}

interface BrokenRequest {
  readonly collection: string;
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly object: any;
}

async function sendBroken(
  client: HttpClient,
  dice: Dice,
  { collection, name, headers, object }: BrokenRequest,
): Promise<void> {
  const query = randomQuery(dice);
  const path = `${collection}/${name}${query}`;
  switch (dice(8)) {
    case 0:
    case 1:
    case 2:
      await client.send('POST', `${collection}${query}`, { body: object, headers });
      return;
    case 3:
      await client.send('PUT', path, { body: object, headers });
      return;
    case 4:
    case 5: {
      const type = pick(dice, PATCH_TYPES);
      const body = type.startsWith('json') ? jsonPatch(dice, object) : object;
      await client.send('PATCH', path, { body, type: `application/${type}`, headers });
      return;
    }
    case 6:
      await client.send('DELETE', dice(20) === 0 ? `${collection}${query}` : path, { headers });
      return;
    default:
      await client.send('GET', dice(2) === 0 ? path : `${collection}${query}`, { headers });
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
