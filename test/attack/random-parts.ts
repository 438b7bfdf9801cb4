/** Random parts of requests: paths, queries, headers and texts as clients send them by mistake or on purpose. */
import type { Dice } from '../crash/random.ts';

export function pick<T>(dice: Dice, values: readonly T[]): T {
  return values[dice(values.length)]!;
}

/** Mostly small, now and then as large as a body may be. */
function hostileSize(dice: Dice): number {
  return pick(dice, [0, 1, 10, 10, 100, 100, 1_000, 1_000, 10_000, 60_000, dice(20) === 0 ? 2_900_000 : 300_000]);
}

const SELECTORS = [
  'a=b',
  'a==b',
  'a!=b',
  'a in (b,c)',
  'a notin ()',
  '!a',
  'a',
  'a in (',
  '=',
  ',',
  'a>1',
  '"',
  'a=b=c',
  '\u0000',
];
const FIELDS = [
  'metadata.name=x',
  'metadata.namespace!=y',
  'spec.nodeName=',
  'status.phase=Running',
  'a.b.c=1',
  '=',
  ',,',
];
const NUMBERS = ['0', '1', '-1', '1e9', '99999999999999999999', '0x10', 'NaN', '1.5', ''];
const FLAGS = ['true', 'false', '1', 'yes', ''];
const OPTIONS: readonly [name: string, values: readonly string[]][] = [
  ['labelSelector', SELECTORS],
  ['fieldSelector', FIELDS],
  ['limit', NUMBERS],
  ['continue', ['x', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0', '%00']],
  ['resourceVersion', NUMBERS],
  ['resourceVersionMatch', ['Exact', 'NotOlderThan', 'Other']],
  ['timeoutSeconds', ['1', '-1', 'x']],
  ['pretty', FLAGS],
  ['dryRun', ['All', 'None', '']],
  ['fieldValidation', ['Strict', 'Warn', 'Ignore', 'Other']],
  ['gracePeriodSeconds', NUMBERS],
  ['propagationPolicy', ['Orphan', 'Foreground', 'Background', 'Other']],
  ['orphanDependents', FLAGS],
  ['export', FLAGS],
  ['exact', FLAGS],
  ['includeUninitialized', FLAGS],
  ['includeObject', ['None', 'Object', 'Metadata', 'Other']],
  ['fieldManager', ['x', 'y'.repeat(200)]],
  ['unknown', ['x']],
];

export function randomQuery(dice: Dice): string {
  if (dice(2) === 0) return '';
  const terms = Array.from({ length: 1 + dice(4) }, () => {
    const [name, values] = pick(dice, OPTIONS);
    const value = name.endsWith('Selector') && dice(10) === 0 ? longSelector(dice) : pick(dice, values);
    return `${name}=${encodeURIComponent(value)}`;
  });
  return `?${terms.join('&')}`;
}

function longSelector(dice: Dice): string {
  return Array.from({ length: 1 + dice(1_500) }, () => pick(dice, SELECTORS))
    .join(',')
    .slice(0, 20_000);
}

const ACCEPTS = [
  'application/json',
  'application/yaml',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf',
  '*/*;q=0.1',
  ';;;',
];

export function randomHeaders(dice: Dice): Record<string, string> {
  const headers: Record<string, string> = {};
  if (dice(3) === 0) headers.accept = pick(dice, ACCEPTS);
  if (dice(5) === 0) headers['accept-encoding'] = 'gzip';
  if (dice(20) === 0) headers['impersonate-user'] = pick(dice, ['nobody', 'system:admin', '', 'x'.repeat(1_000)]);
  if (dice(30) === 0) headers['if-none-match'] = '*';
  if (dice(30) === 0) headers[`x-${dice(5)}`] = 'y'.repeat(hostileSize(dice) % 30_000);
  return headers;
}

const ODD_PATHS = [
  '/',
  '/api',
  '/apis/',
  '/api/v1/',
  '/apis/none/v1/things',
  '/api/v1/namespaces/../pods',
  '/api/v1/namespaces/%2e%2e/pods',
  '/api/v1/namespaces/%ff/pods',
  '/api/v1/namespaces//pods//x',
  '/api/v1/watch/namespaces/tenant/pods?timeoutSeconds=1',
  '/openapi/v2',
  '/openapi/v3/api/v1',
  '/swaggerapi/api/v1',
  '/metrics',
  '/healthz?verbose',
  '/livez/none',
  '/version',
  '/logs',
  '/api/v1/namespaces/tenant/pods/random-1/log?tailLines=-1',
  '/api/v1/namespaces/tenant/pods/random-1/exec?command=sh',
  '/api/v1/namespaces/tenant/pods/random-1/proxy/x',
  '/api/v1/namespaces/tenant/serviceaccounts/default/token',
];
const SUBRESOURCES = [
  'status',
  'scale',
  'log',
  'eviction',
  'binding',
  'ephemeralcontainers',
  'resize',
  'rollback',
  'none',
];

/** A path around a collection, or something that is no path of the API. */
export function randomPath(dice: Dice, collection: string, name: string): string {
  switch (dice(6)) {
    case 0:
      return pick(dice, ODD_PATHS);
    case 1:
      return `${collection}/${name}/${pick(dice, SUBRESOURCES)}`;
    case 2:
      return `${collection}/${encodeURIComponent('\u0000/%'.repeat(1 + dice(50)))}`;
    case 3:
      return `${collection}/${'x'.repeat(hostileSize(dice) % 40_000)}`;
    case 4:
      return `${collection}?watch=1&timeoutSeconds=1`;
    default:
      return `${collection}/${name}`;
  }
}

/** Bodies that are no object of the kind, or no object at all. */
export function randomText(dice: Dice): string {
  const size = hostileSize(dice);
  switch (dice(9)) {
    case 0:
      return '{'.repeat(size);
    case 1:
      return `[${'1,'.repeat(size / 2)}1]`;
    case 2:
      return JSON.stringify('x'.repeat(size));
    case 3:
      return `{"metadata":{"name":"random-1"},"data":{"x":"${'\\u0041'.repeat(size / 6)}"}}`;
    case 4:
      return `{${Array.from({ length: size / 20 }, (_, i) => `"key-${i}":${i}`).join(',')}}`;
    case 5:
      return `metadata:\n  name: random-1\ndata:\n${'  x: y\n'.repeat(size / 8)}`;
    case 6:
      return `{"metadata":{"labels":{${Array.from({ length: size / 20 }, (_, i) => `"l${i}":"v"`).join(',')}}}}`;
    case 7:
      return '\ufeff{}';
    default:
      return 'null';
  }
}

/** Reviews about random requests and tokens. */
export function randomReview(dice: Dice): { path: string; body: object } {
  const text = () => pick(dice, ['', '*', 'pods', 'get', 'tenant', 'x'.repeat(hostileSize(dice) % 100_000)]);
  const resourceAttributes = {
    ...{ verb: text(), resource: text(), group: text(), namespace: text(), name: text() },
    labelSelector: { rawSelector: pick(dice, SELECTORS) },
  };
  const groups = Array.from({ length: dice(100) }, text);
  const authorization = '/apis/authorization.k8s.io/v1';
  switch (dice(5)) {
    case 0:
      return { path: `${authorization}/selfsubjectaccessreviews`, body: { spec: { resourceAttributes } } };
    case 1:
      return {
        path: `${authorization}/subjectaccessreviews`,
        body: { spec: { user: text(), groups, resourceAttributes } },
      };
    case 2:
      return { path: `${authorization}/selfsubjectrulesreviews`, body: { spec: { namespace: text() } } };
    case 3:
      return { path: '/apis/authentication.k8s.io/v1/tokenreviews', body: { spec: { token: text() } } };
    default:
      return {
        path: `${authorization}/selfsubjectaccessreviews`,
        body: { spec: { nonResourceAttributes: { path: text(), verb: text() } } },
      };
  }
}
