/** Tests the front end with the real server: every kind, in every version, at every path. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { referenceDirectory } from '../../../../test/kinds/published.ts';
import { startServer } from '../../../../test/support/http-server.ts';
import { systemClock as clock } from '../../../base/time/clock.ts';
import { allKinds } from '../../../kinds/all.ts';
import type { Verb } from '../../../kinds/kind.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import { createServer, type Server } from '../../index.ts';
import { Registry, type Resource } from '../../objects/registry/registry.ts';
import { allSubresources } from '../../operations/subresources/all.ts';
import type { HttpServer } from './server.ts';

const PATCH_TYPES = ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml'];
/** How each verb of the discovery is sent, and with what types of content. */
const BODIES: Readonly<Record<string, { readonly method: string; readonly types: readonly string[] }>> = {
  create: { method: 'POST', types: ['json', 'yaml'] },
  update: { method: 'PUT', types: ['json', 'yaml'] },
  patch: { method: 'PATCH', types: PATCH_TYPES },
  delete: { method: 'DELETE', types: ['json', 'yaml'] },
  deletecollection: { method: 'DELETE', types: ['json', 'yaml'] },
};
/** Subresources that open a connection: a body is for the program in the pod. */
const CONNECTIONS = new Set(['attach', 'exec', 'portforward', 'proxy']);

const resources: [title: string, resource: Resource][] = [];
const registry = new Registry(allKinds, allSubresources);
for (const apiVersion of registry.apiVersions) {
  for (const resource of registry.resourcesOf(apiVersion)) {
    resources.push([`${resource.kind.plural} of ${apiVersion}`, resource]);
  }
}

let core: Server;
let http: HttpServer;
let base: string;

beforeAll(async () => {
  core = await createServer({ kinds: allKinds, store: new MemoryStore({ clock }), clock, freeze: true });
  ({ server: http } = await startServer({ handle: core.handle, registry: core.registry }));
  base = `http://127.0.0.1:${(await http.listenInsecure(0, '127.0.0.1')).port}`;
});

afterAll(async () => {
  await http.close();
  core.close();
});

async function ask(method: string, path: string): Promise<{ code: number; body: any; warning: string | null }> {
  const answer = await fetch(base + path, { method });
  const text = await answer.text();
  return { code: answer.status, body: text && JSON.parse(text), warning: answer.headers.get('warning') };
}

describe.each(resources)('%s', (_, { kind, version }) => {
  const prefix = version.group ? `/apis/${version.apiVersion}` : `/api/${version.apiVersion}`;
  const namespaced = kind.scope === 'Namespaced';
  const collection = namespaced ? `${prefix}/namespaces/default/${kind.plural}` : `${prefix}/${kind.plural}`;
  /** Skips rows that do not apply to the kind. */
  const when = (yes: boolean) => (yes ? it : () => {});
  const has = (verb: Verb) => !kind.verbs || kind.verbs.includes(verb);
  const warning = version.deprecated ? `299 - "${version.deprecated}"` : null;

  when(has('list'))('lists, in a namespace and in all', async () => {
    for (const path of [collection, `${prefix}/${kind.plural}`]) {
      const answer = await ask('GET', path);
      expect(answer).toMatchObject({ code: 200, warning });
      expect(answer.body).toMatchObject({ kind: kind.listKind, apiVersion: version.apiVersion });
    }
  });

  when(has('watch'))('watches, in both forms', async () => {
    const watch = `${prefix}/watch${collection.slice(prefix.length)}`;
    for (const path of [`${collection}?watch=true&`, `${watch}?`, `${watch}/nobody?`]) {
      const abort = new AbortController();
      const answer = await fetch(`${base}${path}resourceVersion=0`, { signal: abort.signal });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('warning')).toBe(warning);
      abort.abort();
    }
  });

  when(has('get'))('says that an object is not there', async () => {
    const qualified = kind.group ? `${kind.plural}.${kind.group}` : kind.plural;
    for (const method of has('delete') ? ['GET', 'DELETE'] : ['GET']) {
      // Set explicitly, to avoid the warnings of some kinds.
      const query = method === 'DELETE' ? '?propagationPolicy=Background' : '';
      const answer = await ask(method, `${collection}/nobody${query}`);
      expect(answer).toMatchObject({
        code: 404,
        warning,
        body: { reason: 'NotFound', message: `${qualified} "nobody" not found` },
      });
    }
  });

  when(has('create'))('takes no empty body', async () => {
    const answer = await ask('POST', collection);
    expect(answer.code).toBe(400);
    expect(answer.body.message).toContain(`(must be of type ${kind.kind})`);
  });

  it('takes no null for a body, whatever the verb', async () => {
    const { body: discovered } = await ask('GET', prefix);
    for (const { name, verbs } of discovered.resources as { name: string; verbs: string[] }[]) {
      const [plural, subresource] = name.split('/');
      if (plural !== kind.plural || CONNECTIONS.has(subresource ?? '')) continue;
      for (const verb of verbs) {
        const { method, types } = BODIES[verb] ?? { method: '', types: [] };
        const isOfAll = verb === 'deletecollection' || (verb === 'create' && !subresource);
        const path = isOfAll ? collection : [`${collection}/nobody`, subresource].filter(Boolean).join('/');
        for (const type of types) {
          const headers = { 'content-type': `application/${type}` };
          for (const body of type.endsWith('yaml') ? ['null', '~'] : ['null', ' null ']) {
            const answer = await fetch(`${base}${path}?fieldManager=test`, { method, headers, body });
            expect(`${method} ${path} ${type} ${answer.status}`).toMatch(/ 400$/);
          }
        }
      }
    }
  });

  when(has('create') && !has('patch'))(
    'publishes the patch that it rejects, where clients look for parameters',
    async () => {
      expect((await ask('PATCH', `${collection}/nobody`)).code).toBe(405);
      const { body } = await ask('GET', `/openapi/v3${prefix}`);
      const at = namespaced
        ? `${prefix}/namespaces/{namespace}/${kind.plural}/{name}`
        : `${prefix}/${kind.plural}/{name}`;
      const { patch } = body.paths[at];
      expect(patch['x-kubernetes-group-version-kind']).toMatchObject({ kind: kind.kind });
      expect(patch.parameters.map(({ name }: { name: string }) => name)).toContain('fieldValidation');
      expect(Object.keys(patch.responses)).toEqual(['401', '405']);
    },
  );

  it('appears in the discovery of its version', async () => {
    const { body } = await ask('GET', prefix);
    expect(body.resources).toContainEqual(expect.objectContaining({ name: kind.plural, kind: kind.kind, namespaced }));
  });
});

const reference = referenceDirectory();
const where = reference ? '' : ' (skipped: no published schemas; QUARTERDECK_REFERENCE names their directory)';

describe.skipIf(!reference)(`Kubernetes' kinds that this server does not serve${where}`, () => {
  it.each(['openapi-1.36.json', 'openapi-1.7.json'])('are 404 wherever %s has a list', async (file) => {
    const { paths } = JSON.parse(readFileSync(join(reference!, file), 'utf8'));
    const lists = Object.keys(paths).filter((path) => paths[path].get?.['x-kubernetes-action'] === 'list');
    const published = lists.map((path) => path.replace('{namespace}', 'default'));
    const unserved = published.filter((path) => !isServed(path));
    expect(unserved).not.toEqual([]);
    for (const path of unserved) expect([path, (await fetch(base + path)).status]).toEqual([path, 404]);
  });

  function isServed(path: string): boolean {
    const [, core, group, other, plural] =
      /^\/(?:api\/(v1)|apis\/([^/]+)\/([^/]+))\/(?:namespaces\/default\/)?([a-z]+)$/.exec(path) ?? [];
    return registry.resource(core ?? `${group}/${other}`, plural ?? '') !== undefined;
  }
});
