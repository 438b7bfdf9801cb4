/**
 * No message contains values of a Secret: whatever is wrong with a request, neither its response, nor its warnings, nor
 * the audit log, nor the ordinary log quotes them. The same holds for tokens.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { askHttp1 } from '../../../../test/support/http-client.ts';
import { type RunningServer, startServer } from '../../../../test/support/http-server.ts';
import type { Logger } from '../../../base/log.ts';
import { systemRandom as random } from '../../../base/random.ts';
import { systemClock as clock } from '../../../base/time/clock.ts';
import { allKinds } from '../../../kinds/all.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import { Audit } from '../../access/audit/audit.ts';
import { createServer, type Server } from '../../index.ts';
import type { HttpServer } from './server.ts';

const MARKER = 'sword-fish-7731-';
const ENCODED = Buffer.from(MARKER).toString('base64');
/** The marker in its possible encodings. */
const TRACES = [MARKER, MARKER.slice(3, 12), ENCODED.slice(2, 14), Buffer.from(MARKER).toString('hex').slice(4, 20)];

const SECRETS = '/api/v1/namespaces/default/secrets';
const object = `${SECRETS}/hidden`;
const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const JSON_TYPE = 'application/json';
const YAML = 'application/yaml';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const MERGE = 'application/merge-patch+json';
const STRATEGIC = 'application/strategic-merge-patch+json';
const OPERATIONS = 'application/json-patch+json';

let core: Server;
let http: HttpServer;
let running: RunningServer;
let base: string;
const store = new MemoryStore({ clock });
/** All lines of the ordinary log and of the audit log. */
const lines: string[] = [];

function keep(level: string) {
  return (message: string, fields?: object) => {
    const plain = (_key: string, value: unknown): unknown =>
      value instanceof Error ? { message: value.message, stack: value.stack, cause: value.cause } : value;
    lines.push(`${level} ${message} ${JSON.stringify(fields, plain)}`);
  };
}

const log: Logger = {
  debug: keep('debug'),
  info: keep('info'),
  warn: keep('warn'),
  error: keep('error'),
  with: () => log,
};

beforeAll(async () => {
  core = await createServer({ kinds: allKinds, store, clock, log });
  const audit = new Audit({
    policy: { rules: [{ level: 'Metadata' }] },
    backends: [{ write: (line) => void lines.push(line.toString()), dropped: {} }],
    clock,
    random,
  });
  running = await startServer({ handle: core.handle, registry: core.registry, log, audit });
  http = running.server;
  base = `http://127.0.0.1:${(await http.listenInsecure(0, '127.0.0.1')).port}`;
});

afterAll(async () => {
  await http.close();
  core.close();
});

const content = {
  data: { password: ENCODED, '.dockerconfigjson': ENCODED },
  stringData: { other: MARKER },
};
const metadata = {
  name: 'hidden',
  annotations: { 'kubectl.kubernetes.io/last-applied-configuration': `{"stringData":{"other":"${MARKER}"}}` },
};
const secret = { apiVersion: 'v1', kind: 'Secret', metadata, ...content };

const create = (body: object) =>
  fetch(base + SECRETS, { method: 'POST', headers: { 'content-type': JSON_TYPE }, body: JSON.stringify(body) });

beforeEach(async () => {
  const unlocked = { method: 'PATCH', headers: { 'content-type': MERGE }, body: '{"metadata":{"finalizers":null}}' };
  await fetch(base + object, unlocked);
  await fetch(base + object, { method: 'DELETE' });
  const created = await create(secret);
  expect(created.status).toBe(200);
  lines.length = 0;
});

interface Rejection {
  readonly method: string;
  readonly path?: string;
  readonly type?: string;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
}

/** Sends a request, and expects that it is rejected, or has warnings, without a trace of the marker. */
async function expectNoTrace({
  method,
  path = SECRETS,
  type = JSON_TYPE,
  headers = {},
  body,
}: Rejection): Promise<void> {
  const sent = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const response = await fetch(base + path, { method, headers: { 'content-type': type, ...headers }, body: sent });
  const text = await response.text();
  const warnings = response.headers.get('warning') ?? '';
  expect(response.status >= 400 || warnings !== '', `${response.status} ${text}`).toBe(true);
  expect(response.status, text).toBeLessThan(500);
  const messages = [warnings, ...lines, ...(response.status >= 400 ? [text] : [])].join('\n');
  for (const trace of TRACES) expect(messages).not.toContain(trace);
}

const strict = (path: string) => `${path}?fieldValidation=Strict`;
const named = (more: object) => ({ ...secret, metadata: { ...metadata, name: 'another' }, ...more });
const withMetadata = (more: object) => named({ metadata: { ...metadata, name: 'another', ...more } });

const bodies: [string, Pick<Rejection, 'type' | 'body'>][] = [
  ['JSON that ends early', { body: JSON.stringify(secret).slice(0, -10) }],
  ['JSON with a bare word', { body: `{"data":{"password":${MARKER}}}` }],
  ['JSON with text behind it', { body: `${JSON.stringify(secret)} ${MARKER}` }],
  ['JSON with a bad escape', { body: `{"stringData":{"a":"${MARKER}\\x"}}` }],
  ['a string', { body: JSON.stringify(MARKER) }],
  ['a list', { body: [MARKER, secret] }],
  ['invalid UTF-8', { body: Buffer.concat([Buffer.from(`{"a":"${MARKER}`), Buffer.from([0xff, 0x22, 0x7d])]) }],
  ['deep nesting', { body: `{"data":${'['.repeat(2_000)}"${MARKER}"` }],
  ['YAML with a nested mapping', { type: YAML, body: `stringData:\n  password: ${MARKER}: x` }],
  ['YAML with an unknown alias', { type: YAML, body: `stringData:\n  password: *${MARKER}` }],
  ['YAML with an unknown tag', { type: YAML, body: `stringData:\n  password: !${MARKER} x` }],
  ['YAML with a bad indent', { type: YAML, body: `stringData:\n  password: x\n ${MARKER}\n` }],
  ['YAML with an open quote', { type: YAML, body: `stringData:\n  password: "${MARKER}` }],
  ['YAML with a tab', { type: YAML, body: `stringData:\n\t${MARKER}: a` }],
  ['YAML with a bad anchor', { type: YAML, body: `stringData: {password: & ${MARKER}}` }],
  ['YAML with a directive', { type: YAML, body: `%${MARKER}\n---\n- ${MARKER}` }],
  ['YAML that is a string', { type: YAML, body: MARKER }],
  ['not protobuf', { type: PROTOBUF, body: MARKER }],
  ['broken protobuf', { type: PROTOBUF, body: Buffer.concat([Buffer.from('k8s\0'), Buffer.from(MARKER)]) }],
  ['another media type', { type: 'text/plain', body: MARKER }],
];

describe('a secret is created or replaced with', () => {
  const objects: [string, object][] = [
    ['values that are objects', named({ data: { password: { nested: MARKER } } })],
    ['values that are lists', named({ stringData: { password: [MARKER] } })],
    ['values that are not base64', named({ data: { password: `${MARKER}!` } })],
    ['data that is text', named({ data: MARKER })],
    ['data that is a list', named({ data: [MARKER] })],
    ['text for a boolean', named({ immutable: MARKER })],
    ['an object for its type', named({ type: { a: MARKER } })],
    ['a bad key', named({ data: { 'a b': ENCODED } })],
    ['many bad keys', named({ data: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a ${i}`, ENCODED])) })],
    [
      'too many keys',
      named({ data: Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, ENCODED])) }),
    ],
    ['too much data', named({ stringData: { big: MARKER.repeat(70_000) } })],
    ['content that is not of its type', named({ type: 'kubernetes.io/dockerconfigjson' })],
    ['missing keys of its type', named({ type: 'kubernetes.io/tls' })],
    ['a bad name', withMetadata({ name: 'A b' })],
    ['annotations that are objects', withMetadata({ annotations: { a: { b: MARKER } } })],
    ['a bad annotation', withMetadata({ annotations: { 'a b': MARKER } })],
    ['too many annotations', withMetadata({ annotations: { a: MARKER.repeat(20_000) } })],
    ['a bad owner', withMetadata({ ownerReferences: [{ a: MARKER }] })],
    ['a bad time', withMetadata({ creationTimestamp: 'x' })],
    ['another kind', named({ kind: 'ConfigMap' })],
    ['an unknown version', named({ apiVersion: 'v7' })],
    ['a kind that is no text', named({ kind: [MARKER] })],
    ['another namespace', withMetadata({ namespace: 'elsewhere' })],
    ['unknown fields', named({ unknown: MARKER, spec: { password: MARKER } })],
  ];

  it.each([...bodies, ...objects.map(([name, body]) => [name, { body }] as const)])('%s', async (_, rejection) => {
    await expectNoTrace({ method: 'POST', ...rejection });
    await expectNoTrace({ method: 'POST', path: strict(SECRETS), ...rejection });
    const { body } = rejection;
    const isObject = typeof body === 'object' && body !== null && 'metadata' in body;
    const { name = 'hidden' } = isObject ? (body.metadata as { name?: string }) : {};
    const same =
      isObject && name === 'another' ? { ...body, metadata: { ...(body.metadata as object), name: 'hidden' } } : body;
    await expectNoTrace({ method: 'PUT', path: strict(object), ...rejection, body: same });
  });

  it('duplicate fields', async () => {
    const body = `{"metadata":{"name":"another"},"stringData":{"a":"${MARKER}","a":"${MARKER}2"}}`;
    await expectNoTrace({ method: 'POST', body });
    await expectNoTrace({ method: 'POST', path: strict(SECRETS), body });
    await expectNoTrace({ method: 'PUT', path: strict(object), body: body.replace('another', 'hidden') });
    const yaml = `metadata: {name: another}\nstringData:\n  a: ${MARKER}\n  a: ${MARKER}`;
    await expectNoTrace({ method: 'POST', path: strict(SECRETS), type: YAML, body: yaml });
  });

  it('a name that exists, or an outdated version', async () => {
    await expectNoTrace({ method: 'POST', body: secret });
    for (const more of [{ resourceVersion: '1' }, { resourceVersion: MARKER.slice(0, 2) }, { uid: 'other' }]) {
      await expectNoTrace({ method: 'PUT', path: object, body: { ...secret, metadata: { ...metadata, ...more } } });
    }
    await expectNoTrace({ method: 'PUT', path: object, body: { ...secret, type: 'other' } });
  });

  it('a change of immutable data', async () => {
    const frozen = { ...secret, metadata: { ...metadata, name: 'frozen' }, immutable: true };
    await create(frozen);
    const changed = { ...frozen, data: { password: Buffer.from(`${MARKER}2`).toString('base64') } };
    await expectNoTrace({ method: 'PUT', path: `${SECRETS}/frozen`, body: changed });
    await expectNoTrace({ method: 'PATCH', path: `${SECRETS}/frozen`, type: MERGE, body: { data: changed.data } });
  });
});

describe('a secret is patched with', () => {
  const operations = (...body: object[]): [string, unknown] => [OPERATIONS, body];
  const add = (path: string, value: unknown) => operations({ op: 'add', path, value });

  it.each<[string, [string, unknown]]>([
    ['unknown fields in a merge patch', [MERGE, { unknown: MARKER, data: { a: ENCODED } }]],
    ['unknown fields in a strategic patch', [STRATEGIC, { unknown: MARKER, data: { a: ENCODED } }]],
    ['unknown fields by operations', add('/unknown', MARKER)],
    ['unknown fields of an operation', operations({ op: 'add', path: '/data/a', value: ENCODED, extra: MARKER })],
    ['duplicate fields', [MERGE, `{"stringData":{"a":"${MARKER}","a":"${MARKER}"}}`]],
    ['broken JSON', [MERGE, `{"stringData":{"a":"${MARKER}"`]],
    ['a list instead of an object', [MERGE, [MARKER]]],
    ['an object instead of a list', [OPERATIONS, { a: MARKER }]],
    ['values of another type', [MERGE, { data: { password: { a: MARKER } } }]],
    ['values that are not base64', [MERGE, { data: { password: `${MARKER}!` } }]],
    ['a bad key', [MERGE, { stringData: { 'a b': MARKER } }]],
    ['a test that fails', operations({ op: 'test', path: '/data/password', value: MARKER })],
    ['a test of everything', operations({ op: 'test', path: '', value: { a: MARKER } })],
    ['a missing path', operations({ op: 'add', path: '/missing/a', value: MARKER })],
    ['an index into text', add('/data/password/0', MARKER)],
    ['an operation of an unknown kind', operations({ op: 'other', path: '/data', value: MARKER })],
    ['an operation without a path', operations({ op: 'add', value: MARKER })],
    ['an operation that is no object', [OPERATIONS, [MARKER]]],
    ['a replaced root', operations({ op: 'replace', path: '', value: MARKER })],
    ['a list as data', add('/data', [MARKER])],
    ['a moved value', operations({ op: 'move', from: '/data/password', path: '/metadata/labels' })],
    ['a copied value', operations({ op: 'copy', from: '/data', path: '/type' })],
    ['an unknown directive', [STRATEGIC, { data: { $patch: 'other', password: ENCODED } }]],
    ['an unknown directive that is a value', [STRATEGIC, { data: { $patch: MARKER } }]],
    ['a directive in a list', [STRATEGIC, { metadata: { ownerReferences: [{ $patch: 'merge', a: MARKER }] } }]],
    ['items without a merge key', [STRATEGIC, { metadata: { ownerReferences: [{ a: MARKER }] } }]],
    ['items of several types', [STRATEGIC, { metadata: { finalizers: [MARKER, { a: MARKER }] } }]],
    ['lists of lists', [STRATEGIC, { metadata: { finalizers: [[MARKER]] } }]],
    [
      'another order',
      [STRATEGIC, { metadata: { '$setElementOrder/finalizers': ['a.b/c'], finalizers: ['a.b/c', MARKER] } }],
    ],
    ['an order of something else', [STRATEGIC, { data: { '$setElementOrder/password': [MARKER] } }]],
    ['keys to retain', [STRATEGIC, { data: { $retainKeys: MARKER, password: ENCODED } }]],
    ['another kind', [MERGE, { kind: 'ConfigMap', data: { a: ENCODED } }]],
    ['another type', [MERGE, { type: 'Other', data: { a: ENCODED } }]],
    ['an outdated version', [MERGE, { metadata: { resourceVersion: '1' }, data: { a: ENCODED } }]],
    ['a media type that is none', ['application/apply-patch+cbor', `data: {a: ${MARKER}}`]],
  ])('%s', async (_, [type, body]) => {
    // The list that a strategic patch is merged with must not be empty.
    const finalizers = { metadata: { finalizers: ['a.b/c'], ownerReferences: [owner] } };
    await fetch(base + object, {
      method: 'PATCH',
      headers: { 'content-type': MERGE },
      body: JSON.stringify(finalizers),
    });
    await expectNoTrace({ method: 'PATCH', path: strict(object), type, body });
  });

  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' };
});

const review = (spec: object, more = {}) => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenReview',
  spec,
  ...more,
});

it.each([
  ...bodies,
  ['a token that is no text', { body: review({ token: { a: MARKER } }) }],
  ['an audience that is no text', { body: review({ token: MARKER, audiences: [{ a: MARKER }] }) }],
  ['unknown fields', { body: review({ token: MARKER, other: MARKER }, { other: MARKER }) }],
] as [string, Pick<Rejection, 'type' | 'body'>][])('a review of a token has: %s', async (_, rejection) => {
  await expectNoTrace({ method: 'POST', path: strict(REVIEWS), ...rejection });
});

it('a stored secret that cannot be read is not shown', async () => {
  const key = '/registry/core/secrets/default/damaged';
  for (const value of [
    MARKER,
    `{"data":{"password":"${MARKER}"`,
    `{"data":{"password":["${MARKER}"]}}`,
    `["${MARKER}"]`,
  ]) {
    await store.commit([{ key, value: Buffer.from(value) }]);
    for (const path of [`${SECRETS}/damaged`, SECRETS]) {
      const response = await fetch(base + path);
      expect(response.status).toBe(500);
      const messages = [await response.text(), ...lines].join('\n');
      for (const trace of TRACES) expect(messages).not.toContain(trace);
    }
  }
  await store.commit([{ key, value: null }]);
});

it.each([
  ['a bearer token', { authorization: `Bearer ${MARKER}` }],
  ['a signed token', { authorization: `Bearer eyJhbGciOiJub25lIn0.${ENCODED}.x` }],
  ['a password', { authorization: `Basic ${Buffer.from(`user:${MARKER}`).toString('base64')}` }],
  ['credentials of an unknown sort', { authorization: `Other ${MARKER}` }],
  ['a token of a WebSocket', { 'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${ENCODED}` }],
])('does not show %s that is rejected', async (_, headers: Record<string, string>) => {
  const { port, authority } = running;
  for (const path of [SECRETS, `${SECRETS}?watch=true`, '/nowhere']) {
    const response = await askHttp1({ port, ca: authority.ca, path, headers });
    expect(response.code).toBe(401);
    const messages = [response.text, JSON.stringify(response.headers), ...lines].join('\n');
    for (const trace of TRACES) expect(messages).not.toContain(trace);
  }
});
