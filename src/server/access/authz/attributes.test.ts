import { expect, it } from 'vitest';
import { smallRegistry } from '../../../../test/support/http-server.ts';
import { BackendRegistry } from '../../serving/backends/backend-registry.ts';
import { parseQuery } from '../../serving/http/route/query.ts';
import { findRoute, splitPath, verbOf } from '../../serving/http/route/route.ts';
import { attributesOfPath, RequestAttributes } from './attributes.ts';
import { forbiddenError } from './forbidden-error.ts';

const user = { name: 'ann', groups: [] };
const backends = new BackendRegistry(smallRegistry());

/** Derives the attributes from the route, as for requests for objects. */
function routed(method: string, path: string, search = '') {
  const query = parseQuery(search);
  const route = findRoute(path, backends)!;
  return new RequestAttributes({ user, verb: verbOf(method, route, query.watch) }, route, query.options);
}

const unrouted = (method: string, path: string, search = '') =>
  attributesOfPath({ user, method, path, parts: splitPath(path), watch: parseQuery(search).watch });

const words = ({ verb, group, version, resource, subresource, namespace, name }: any) =>
  [verb, group, version, resource, subresource, namespace, name].join(' ');

it.each<[string, string, string, string]>([
  ['GET', '/api/v1/pods', '', 'list  v1 pods   '],
  ['GET', '/api/v1/pods', 'watch=1', 'watch  v1 pods   '],
  ['GET', '/api/v1/namespaces/a/pods', '', 'list  v1 pods  a '],
  ['HEAD', '/api/v1/namespaces/a/pods/b', '', 'get  v1 pods  a b'],
  ['GET', '/api/v1/watch/namespaces/a/pods/b', '', 'watch  v1 pods  a b'],
  ['POST', '/api/v1/namespaces/a/pods', '', 'create  v1 pods  a '],
  ['POST', '/api/v1/namespaces/a/pods/b/eviction', '', 'create  v1 pods eviction a b'],
  ['PUT', '/api/v1/namespaces/a/pods/b/status', '', 'update  v1 pods status a b'],
  ['DELETE', '/api/v1/namespaces/a/pods', '', 'deletecollection  v1 pods  a '],
  ['DELETE', '/api/v1/namespaces/a/pods/b', '', 'delete  v1 pods  a b'],
  ['PATCH', '/apis/apps/v1/namespaces/a/deployments/b', '', 'patch apps v1 deployments  a b'],
  [
    'PATCH',
    '/apis/extensions/v1beta1/namespaces/a/deployments/b/scale',
    '',
    'patch extensions v1beta1 deployments scale a b',
  ],
  ['GET', '/api/v1/namespaces', '', 'list  v1 namespaces   '],
  ['GET', '/api/v1/namespaces/a', '', 'get  v1 namespaces  a a'],
  ['PUT', '/api/v1/namespaces/a/finalize', '', 'update  v1 namespaces finalize a a'],
  ['GET', '/api/v1/nodes/n', '', 'get  v1 nodes   n'],
])('%s %s?%s is %s', (method, path, search, expected) => {
  expect(words(routed(method, path, search))).toBe(expected);
  // Attributes derived without the registry of kinds must be the same.
  expect(words(unrouted(method, path, search))).toBe(expected);
});

it.each<[string, string, string]>([
  ['GET', '/apis/nothing.example.com/v1/namespaces/a/things/b/parts', 'get nothing.example.com v1 things parts a b'],
  ['POST', '/api/v1/namespaces/a/pods/b', 'create  v1 pods  a b'],
  ['PUT', '/api/v1/namespaces/a/pods', 'update  v1 pods  a '],
  ['TRACE', '/api/v1/pods', '  v1 pods   '],
])('treats an unknown path like the one it resembles: %s %s', (method, path, expected) => {
  expect(words(unrouted(method, path))).toBe(expected);
});

it.each(['/', '/api', '/api/v1', '/apis/apps', '/apis/apps/v1', '/metrics', '/version/'])('%s is a path', (path) => {
  expect(unrouted('GET', path)).toEqual({ user, verb: 'get', path });
});

it('decodes a percent-encoded path', () => {
  expect(unrouted('GET', '/%6detrics')).toEqual({ user, verb: 'get', path: '/metrics' });
  expect(words(unrouted('GET', '/%61pi/v1/%70ods'))).toBe('list  v1 pods   ');
});

it('names the single object that a list selects', () => {
  const selecting = (selector: string, verb = 'GET') =>
    routed(verb, '/api/v1/namespaces/a/pods', `fieldSelector=${encodeURIComponent(selector)}`);
  expect(selecting('metadata.name=b').name).toBe('b');
  expect(selecting('spec.nodeName=n,metadata.name=b').name).toBe('b');
  expect(selecting('metadata.name!=b').name).toBe('');
  expect(selecting('metadata.name=b', 'DELETE').name).toBe('');
  expect(selecting('spec.nodeName=n').fieldSelector).toEqual([{ key: 'spec.nodeName', operator: 'In', values: ['n'] }]);
  expect(selecting('spec.nodeName').fieldSelector).toBeUndefined();
});

it('parses label selectors as in a review', () => {
  const search = `labelSelector=${encodeURIComponent('a=b,c!=d,e in (f,g),h,!i,j>1')}`;
  expect(routed('GET', '/api/v1/pods', search).labelSelector).toEqual([
    { key: 'a', operator: 'In', values: ['b'] },
    { key: 'c', operator: 'NotIn', values: ['d'] },
    { key: 'e', operator: 'In', values: ['f', 'g'] },
    { key: 'h', operator: 'Exists' },
    { key: 'i', operator: 'DoesNotExist' },
  ]);
});

it('reports a denial with the messages of Kubernetes', () => {
  const said = (...asked: Parameters<typeof unrouted>) => forbiddenError(unrouted(...asked), '').toStatus();
  expect(said('GET', '/api/v1/namespaces/default/pods')).toMatchObject({
    code: 403,
    message: 'pods is forbidden: User "ann" cannot list resource "pods" in API group "" in the namespace "default"',
    details: { kind: 'pods' },
  });
  expect(said('PATCH', '/apis/apps/v1/namespaces/a/deployments/b/scale')).toMatchObject({
    message:
      'deployments.apps "b" is forbidden: User "ann" cannot patch resource "deployments/scale" in API group "apps" in the namespace "a"',
    details: { name: 'b', group: 'apps', kind: 'deployments' },
  });
  expect(said('DELETE', '/api/v1/nodes/n').message).toBe(
    'nodes "n" is forbidden: User "ann" cannot delete resource "nodes" in API group "" at the cluster scope',
  );
  expect(said('GET', '/')).toMatchObject({ message: 'forbidden: User "ann" cannot get path "/"', details: {} });
  expect(said('GET', '/<script>').message).toBe('forbidden: User "ann" cannot get path "/&lt;script&gt;"');
  expect(forbiddenError(unrouted('GET', '/'), 'because').message).toBe(
    'forbidden: User "ann" cannot get path "/": because',
  );
});

it.each(['constructor', 'toString', '__proto__', 'FOO'])('gives the method %s no verb', (method) => {
  const path = '/api/v1/pods';
  const found = attributesOfPath({ user, method, path, parts: splitPath(path), watch: false });
  expect(found).toMatchObject({ verb: '' });
});
