import { describe, expect, it } from 'vitest';
import { smallRegistry } from '../../../../../test/support/http-server.ts';
import { BackendRegistry } from '../../backends/backend-registry.ts';
import { findRoute, Routes, verbOf } from './route.ts';

const backends = new BackendRegistry(smallRegistry());

function routed(method: string, path: string, watch = false): string {
  const route = findRoute(path, backends);
  if (!route) return 'no route';
  const { resource, namespace, name, subresource } = route;
  const where = [resource.version.apiVersion, namespace ?? '*', resource.kind.plural, name, subresource?.name];
  return `${verbOf(method, route, watch)} ${where.filter((part) => part !== undefined).join(' ')}`;
}

describe('paths', () => {
  it.each([
    ['GET', '/api/v1/pods', 'list v1 * pods'],
    ['GET', '/api/v1/pods/', 'list v1 * pods'],
    ['GET', '/api/v1/namespaces/a/pods', 'list v1 a pods'],
    ['POST', '/api/v1/namespaces/a/pods', 'create v1 a pods'],
    ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection v1 a pods'],
    ['GET', '/api/v1/namespaces/a/pods/b', 'get v1 a pods b'],
    ['HEAD', '/api/v1/namespaces/a/pods/b', 'get v1 a pods b'],
    ['PUT', '/api/v1/namespaces/a/pods/b', 'update v1 a pods b'],
    ['PATCH', '/api/v1/namespaces/a/pods/b', 'patch v1 a pods b'],
    ['DELETE', '/api/v1/namespaces/a/pods/b', 'delete v1 a pods b'],
    ['PUT', '/api/v1/namespaces/a/pods/b/status', 'update v1 a pods b status'],
    ['POST', '/api/v1/namespaces/a/pods/b/eviction', 'create v1 a pods b eviction'],
    ['GET', '/api/v1/namespaces/a/pods/b/status', 'get v1 a pods b status'],
    ['GET', '/api/v1/namespaces', 'list v1 * namespaces'],
    ['POST', '/api/v1/namespaces', 'create v1 * namespaces'],
    ['GET', '/api/v1/namespaces/a', 'get v1 * namespaces a'],
    ['PUT', '/api/v1/namespaces/a/finalize', 'update v1 * namespaces a finalize'],
    ['PATCH', '/api/v1/namespaces/a/status', 'patch v1 * namespaces a status'],
    ['GET', '/api/v1/nodes/n', 'get v1 * nodes n'],
    ['DELETE', '/api/v1/nodes', 'deletecollection v1 * nodes'],
    ['GET', '/apis/apps/v1/deployments', 'list apps/v1 * deployments'],
    [
      'GET',
      '/apis/extensions/v1beta1/namespaces/a/deployments/d/scale',
      'get extensions/v1beta1 a deployments d scale',
    ],
    ['POST', '/apis/apps/v1beta1/namespaces/a/deployments/d/rollback', 'create apps/v1beta1 a deployments d rollback'],
    ['GET', '/api/v1/watch/pods', 'watch v1 * pods'],
    ['GET', '/api/v1/watch/namespaces/a/pods/b', 'watch v1 a pods b'],
    ['GET', '/api/v1/watch/namespaces', 'watch v1 * namespaces'],
    ['GET', '/api/v1/watch/namespaces/a', 'watch v1 * namespaces a'],
    ['GET', '/apis/apps/v1/watch/namespaces/a/deployments', 'watch apps/v1 a deployments'],
    ['GET', '/api/v1/namespaces/a/pods/n%C3%A4me', 'get v1 a pods näme'],
    ['GET', '/api/v1/namespaces/watch/pods', 'list v1 watch pods'],
    ['GET', '/history/api/v1/pods', 'list v1 * pods'],
    ['GET', '/history/apis/apps/v1/namespaces/a/deployments/b', 'get apps/v1 a deployments b'],
    ['GET', '/history', 'no route'],
    ['GET', '/history/changes', 'no route'],
    ['GET', '/history/apis/nope/v1/things', 'no route'],
    ['GET', '/apis/nope/v1/things', 'no route'],
    ['GET', '/apis/apps', 'no route'],
    ['GET', '/api/v1', 'no route'],
    ['GET', '/', 'no route'],
    ['GET', '', 'no route'],
    ['GET', '*', 'no route'],
  ])('%s %s is %s', (method, path, expected) => {
    expect(routed(method, path)).toBe(expected);
  });

  it.each([
    '/api/v1/watch',
    '/api/v1/watch/namespaces/a/pods/b/status',
    '/api/v1/namespaces//pods',
    '/api/v1/namespaces/a/pods//status',
    '/api/v1//pods',
    '/api/v1/proxy/namespaces/a/pods/b',
    '/api/v1/namespaces/a/__proto__',
    '/api/v1/constructor',
    '/api/v1/namespaces/a/pods/b/__proto__',
    '/api/v1/namespaces/a/pods/b/constructor',
  ])('%s leads nowhere', (path) => {
    expect(() => routed('GET', path)).toThrow('the server could not find the requested resource');
  });

  it.each(['/api/v1/namespaces/a/pods/%', '/api/v1/namespaces/a/pods/%2', '/api/v1/namespaces/a/pods/%E4'])(
    '%s has a bad escape',
    (path) => {
      expect(() => routed('GET', path)).toThrow('invalid URL escape');
    },
  );

  it.each(['/api/v1/namespaces/a/pods/b%2Fstatus', '/api/v1/namespaces/a%00/pods', '/api/v1/namespaces/a/pods/b%0a'])(
    '%s has a segment that is no name',
    (path) => {
      expect(() => routed('GET', path)).toThrow('invalid path segment');
    },
  );

  it('are updated when kinds come and go', () => {
    const live = smallRegistry();
    const pods = live.resource('v1', 'pods')!.kind;
    const routes = new Routes(new BackendRegistry(live));
    const find = (url = '/api/v1/pods') => routes.find('/api/v1/pods', url);
    expect(find()?.resource.kind).toBe(pods);
    expect(find()).toBe(find());
    live.remove(pods);
    expect(find).toThrow('could not find');
    live.add(pods);
    expect(find()?.resource.kind).toBe(pods);
  });

  it('are cached up to a number and a length, and without a query', () => {
    const routes = new Routes(backends);
    const find = (path: string, query = '') => routes.find(path, path + query);
    const first = find('/api/v1/namespaces/a/pods/first');
    expect(find('/api/v1/namespaces/a/pods/first', '?pretty=true')).toBe(first);
    expect(find('/api/v1/pods', '?watch=true')).not.toBe(find('/api/v1/pods', '?watch=true'));
    const long = `/api/v1/namespaces/a/pods/${'x'.repeat(300)}`;
    expect(find(long)).not.toBe(find(long));
    for (let i = 0; i < 1000; i++) find(`/api/v1/namespaces/a/pods/${i}`);
    expect(find('/api/v1/namespaces/a/pods/first')).toEqual(first);
    expect(find('/api/v1/namespaces/a/pods/first')).not.toBe(first);
  });
});

it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'])('rejects %s for paths that only watch', (method) => {
  for (const path of ['/api/v1/watch/namespaces/a/pods', '/api/v1/watch/namespaces/a/pods/b', '/api/v1/watch/pods']) {
    expect(() => routed(method, path)).toThrow('does not allow this method');
  }
});

it('allows the method OPTIONS only for programs behind the proxy', () => {
  expect(() => routed('OPTIONS', '/api/v1/namespaces/a/pods/b')).toThrow('does not allow this method');
  expect(() => routed('OPTIONS', '/api/v1/namespaces/a/pods/b/log')).toThrow('does not allow this method');
});

it('the watch parameter turns a list and a get into a watch', () => {
  expect(routed('GET', '/api/v1/pods', true)).toBe('watch v1 * pods');
  expect(routed('GET', '/api/v1/namespaces/a/pods/b', true)).toBe('watch v1 a pods b');
});

it('the watch parameter has no effect on a subresource or another method', () => {
  expect(routed('GET', '/api/v1/namespaces/a/pods/b/status', true)).toBe('get v1 a pods b status');
  expect(routed('DELETE', '/api/v1/namespaces/a/pods', true)).toBe('deletecollection v1 a pods');
});

describe('paths of the past', () => {
  it('are marked', () => {
    expect(findRoute('/history/api/v1/nodes', backends)?.isPast).toBe(true);
    expect(findRoute('/api/v1/nodes', backends)?.isPast).toBe(false);
  });

  it.each([
    ['DELETE', '/history/api/v1/namespaces/a/pods/b', 'MethodNotAllowed'],
    ['POST', '/history/api/v1/namespaces/a/pods', 'MethodNotAllowed'],
    ['GET', '/history/api/v1/namespaces/a/pods/b/status', 'NotFound'],
    ['GET', '/history/api/v1/watch/pods', 'NotFound'],
  ])('%s %s is rejected', (method, path, reason) => {
    expect(() => routed(method, path)).toThrow(expect.objectContaining({ reason }));
  });

  it('cannot be watched', () => {
    expect(() => routed('GET', '/history/api/v1/pods', true)).toThrow(
      expect.objectContaining({ reason: 'MethodNotAllowed' }),
    );
  });
});
