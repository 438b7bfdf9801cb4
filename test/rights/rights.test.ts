/** Sends every request as six identities and compares the answers (allowed, 401, 403) with the table. */
import { Agent, request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerUpgrade, UPGRADE_PATH, type UpgradePort } from '../../src/api/machine-upgrade.ts';
import { silent } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { allKinds } from '../../src/kinds/all.ts';
import type { Verb } from '../../src/kinds/kind.ts';
import { createAuthenticator } from '../../src/server/access/authn/authenticator.ts';
import { tokenFile } from '../../src/server/access/authn/files/token-file.ts';
import { issuerDocuments, KEYS_PATH } from '../../src/server/access/authn/tokens/issuer-documents.ts';
import { createServer, type Server } from '../../src/server/index.ts';
import { Registry } from '../../src/server/objects/registry/registry.ts';
import { allSubresources } from '../../src/server/operations/subresources/all.ts';
import { createHttpServer, type HttpServer } from '../../src/server/serving/http/server.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { testAuthority } from '../support/tls.ts';
import { type Route, routesOf } from './routes.ts';
import { ofServiceAccounts, paths, rights, type Word } from './table.ts';

const HOME = 'home';
const ELSEWHERE = 'elsewhere';
const MASTER = { name: 'root', groups: ['system:masters'] };
const TOKENS = [
  'account,system:serviceaccount:elsewhere:idle,1,"system:serviceaccounts,system:serviceaccounts:elsewhere"',
  'reader,reader,2',
  'writer,writer,3',
  'admin,admin,4,system:masters',
].join('\n');

type Identity = 'none' | 'wrong' | 'account' | 'reader' | 'writer' | 'admin';
/** Identities whose answers depend on those for the admin. */
const others: readonly Exclude<Identity, 'admin'>[] = ['none', 'wrong', 'account', 'reader', 'writer'];
const identities: readonly Identity[] = [...others, 'admin'];

/** What the server was given to replace its program with. */
const received: unknown[] = [];
const upgrades: UpgradePort = {
  report: async () => ({ version: '0.1.0', accepts: 'yes' }),
  receive: async ({ content }) => void received.push(String(content)),
  start: async () => void received.push('started'),
};

let server: Server;
let http: HttpServer;
let agent: Agent;
let port: number;

beforeAll(async () => {
  const authority = await testAuthority();
  const store = new MemoryStore({ clock: systemClock });
  const authorization = ['Node', 'RBAC'] as const;
  server = await createServer({ store, kinds: allKinds, clock: systemClock, authorization, defaultRoles: true });
  for (const name of [HOME, ELSEWHERE]) await create('v1', 'namespaces', { metadata: { name } });
  await bind('clusterrolebindings', 'view', 'reader');
  await bind('rolebindings', 'edit', 'writer', HOME);
  http = createHttpServer({
    ...{ handle: server.handle, registry: server.registry, backends: server.backends, authorizer: server.authorizer },
    tls: { ...(await authority.server()), ca: authority.ca },
    authenticate: createAuthenticator({ clock: systemClock, tokens: [tokenFile(TOKENS)], anonymous: false }),
    documents: issuerDocuments({ issuer: 'https://issuer', keysUrl: `https://issuer${KEYS_PATH}`, keys: [] }),
    trees: [{ root: UPGRADE_PATH, answer: (request) => answerUpgrade(request, upgrades) }],
    ...{ log: silent, clock: systemClock, version: { gitVersion: 'v1' } as any, isReady: () => true },
  });
  ({ port } = await http.listen(0, '127.0.0.1'));
  agent = new Agent({ ca: authority.ca, keepAlive: true, maxSockets: 8 });
});

afterAll(async () => {
  agent.destroy();
  await http.close();
  server.close();
});

function create(apiVersion: string, plural: string, body: object, namespace?: string) {
  return server.handle({ verb: 'create', apiVersion, plural, body, user: MASTER, ...(namespace ? { namespace } : {}) });
}

function bind(plural: string, role: string, name: string, namespace?: string) {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  const body = { metadata: { name }, roleRef, subjects: [{ kind: 'User', name }] };
  return create('rbac.authorization.k8s.io/v1', plural, body, namespace);
}

/** Sends a body of an unsupported type: requests that are allowed fail there and change nothing. */
function ask(identity: Identity, method: string, path: string): Promise<{ code: number; body: any }> {
  const framing = method === 'GET' ? {} : { 'content-type': 'text/plain', 'content-length': '1' };
  const headers = { ...framing, ...(identity === 'none' ? {} : { authorization: `Bearer ${identity}` }) };
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = response.headers['content-type']?.startsWith('application/json');
        resolve({ code: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : text });
      });
    });
    call.on('error', reject);
    call.end(method === 'GET' ? undefined : 'x');
  });
}

const READING: readonly Verb[] = ['get', 'list', 'watch'];

function holds(word: Word, verb: Verb): boolean {
  return word === 'all' || (word !== '-' && (word === 'read') === READING.includes(verb));
}

function mayUse(identity: (typeof others)[number], { row, verb, namespace }: Route): boolean {
  const words = rights[row];
  if (!words) throw new Error(`test/rights/table.ts has no row for '${row}': write there which users may use it`);
  const [account, reader, writer] = words.split(' ') as [Word, Word, Word];
  switch (identity) {
    case 'account':
      return holds(account, verb);
    case 'reader':
      return holds(reader, verb);
    case 'writer':
      return (!ofServiceAccounts.has(row) && holds(account, verb)) || (namespace === HOME && holds(writer, verb));
    case 'none':
    case 'wrong':
      return false;
  }
}

const routes = routesOf(new Registry(allKinds, allSubresources), [HOME, ELSEWHERE]);
const byRow = grouped(routes);

function grouped(all: readonly Route[]): Map<string, Route[]> {
  const found = new Map<string, Route[]>();
  for (const route of all) found.set(route.row, [...(found.get(route.row) ?? []), route]);
  return found;
}

describe('the table', () => {
  it('has a row for every resource that is served', () => {
    const missing = [...byRow.keys()].filter((row) => !rights[row]);
    expect(missing, 'test/rights/table.ts has no rows for these: write there which users may use them').toEqual([]);
  });

  it('has rows only for resources that are served', () => {
    const stale = Object.keys(rights).filter((row) => !byRow.has(row));
    expect(stale, 'no resource has these rows: remove them from test/rights/table.ts').toEqual([]);
  });

  it('has a row for every path that the server lists', async () => {
    const { body } = await ask('admin', 'GET', '/');
    const listed = body.paths.filter((path: string) => !/^\/apis?\//.test(path));
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(listed));
  });
});

describe('a resource', () => {
  it.each([...byRow])('%s is for whom the table says', async (_, requests) => {
    for (const route of requests) {
      const { method, path } = route;
      const admin = await ask('admin', method, path);
      expect([401, 403], path).not.toContain(admin.code);
      for (const identity of others) {
        const { code, body } = await ask(identity, method, path);
        const known = identity !== 'none' && identity !== 'wrong';
        const expected = !known ? 401 : mayUse(identity, route) ? admin.code : 403;
        expect(code, `${identity}: ${method} ${path}`).toBe(expected);
        // A rejection repeats the request and reveals nothing of the stored objects.
        if (code === 403) expect(Object.keys(body)).toEqual(Object.keys(REFUSAL));
      }
    }
  });
});

const REFUSAL = { kind: 0, apiVersion: 0, metadata: 0, status: 0, message: 0, reason: 0, details: 0, code: 0 };

describe('a path', () => {
  const versions = [...new Registry(allKinds, allSubresources).apiVersions].filter((apiVersion) =>
    apiVersion.includes('/'),
  );
  const discovery = new Set(versions.flatMap((each) => [`/apis/${each.split('/')[0]}`, `/apis/${each}`]));
  const all = [...Object.entries(paths), ...['/api/v1', ...discovery].map((path) => [path, 'users'] as const)];

  it.each(all)('%s is for %s', async (path, whom) => {
    const admin = (await ask('admin', 'GET', path)).code;
    const ranks = ['unauthenticated', 'users', 'accounts', 'admins'];
    const codes: Record<Identity, number> = {
      none: whom === 'unauthenticated' ? admin : 401,
      wrong: 401,
      account: ranks.indexOf(whom) <= ranks.indexOf('accounts') ? admin : 403,
      reader: ranks.indexOf(whom) <= ranks.indexOf('users') ? admin : 403,
      writer: ranks.indexOf(whom) <= ranks.indexOf('users') ? admin : 403,
      admin,
    };
    for (const identity of identities) {
      expect((await ask(identity, 'GET', path)).code, identity).toBe(codes[identity]);
    }
  });
});

describe('what is not there', () => {
  it.each(['/api/v1/nothing', '/apis/none.example.com/v1/things', '/apis/apps/v1/namespaces/home/nothing/x'])(
    '%s is told to nobody but admins',
    async (path) => {
      expect((await ask('admin', 'GET', path)).code).toBe(404);
      for (const identity of ['account', 'reader', 'writer'] as const) {
        expect((await ask(identity, 'GET', path)).code, identity).toBe(403);
      }
      expect((await ask('none', 'GET', path)).code).toBe(401);
    },
  );

  it('a method is rejected only to who may use the others', async () => {
    expect((await ask('admin', 'PUT', '/api/v1/namespaces/home/pods')).code).toBe(405);
    expect((await ask('reader', 'PUT', '/api/v1/namespaces/home/pods')).code).toBe(403);
  });
});

describe('a package for the program of the server', () => {
  const path = `${UPGRADE_PATH}/${'a'.repeat(64)}`;
  const attempts = async (identity: Identity) => {
    const sent = await ask(identity, 'PUT', `${path}?offset=0`);
    return [sent.code, (await ask(identity, 'POST', path)).code];
  };

  it.each(others)('is taken from nobody like %s', async (identity) => {
    const code = identity === 'none' || identity === 'wrong' ? 401 : 403;
    expect(await attempts(identity)).toEqual([code, code]);
    expect(received).toEqual([]);
  });

  it('is taken from administrators', async () => {
    expect(await attempts('admin')).toEqual([200, 200]);
    expect(received).toEqual(['x', 'started']);
  });
});
