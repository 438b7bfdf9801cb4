import { expect, it } from 'vitest';
import { testServer } from '../../../test/support/server.ts';
import { unmonitored } from '../../base/event-loop/watchdog.ts';
import { allKinds } from '../../kinds/all.ts';
import type { Decision, ResourceAttributes } from '../access/authz/authorizer.ts';
import { directCalls } from './direct.ts';

const ann = { name: 'ann', groups: ['system:authenticated'] };

/** A server whose direct calls are authorized by `decide`, and the attributes it was asked about. */
async function deciding(decide: (attributes: ResourceAttributes) => Decision | Promise<Decision>) {
  const { server } = await testServer(allKinds);
  const asked: ResourceAttributes[] = [];
  const authorize = (attributes: any) => {
    asked.push(attributes);
    return decide(attributes);
  };
  const authorizer = { authorize, rulesFor: server.authorizer.rulesFor };
  return { asked, call: directCalls({ ...server, authorizer, monitor: unmonitored })(ann) };
}

const allow: Decision = { verdict: 'allow', reason: '' };
const reject: Decision = { verdict: 'noOpinion', reason: 'because' };

it('a direct call is authorized by verb, group, resource, subresource, namespace and name', async () => {
  const { asked, call } = await deciding(() => reject);
  const target = { apiVersion: 'apps/v1', plural: 'deployments', namespace: 'x', name: 'web', subresource: 'scale' };
  await expect(call({ verb: 'update', ...target, body: {} })).rejects.toMatchObject({
    reason: 'Forbidden',
    message:
      'deployments.apps "web" is forbidden: User "ann" cannot update resource "deployments/scale" in API group "apps" in the namespace "x": because',
  });
  expect(asked[0]).toMatchObject({ user: ann, verb: 'update', group: 'apps', resource: 'deployments' });
  expect(asked[0]).toMatchObject({ subresource: 'scale', namespace: 'x', name: 'web' });
});

it('a direct call is authorized with the selectors of lists and watches', async () => {
  const { asked, call } = await deciding(() => allow);
  const options = { fieldSelector: 'spec.nodeName=n1', labelSelector: 'app=web' };
  await call({ verb: 'list', apiVersion: 'v1', plural: 'pods', options });
  expect(asked[0]?.fieldSelector).toEqual([{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }]);
  expect(asked[0]?.labelSelector).toEqual([{ key: 'app', operator: 'In', values: ['web'] }]);
});

it('a direct call waits for an asynchronous decision', async () => {
  const { call } = await deciding(async ({ verb }) => (verb === 'list' ? allow : reject));
  const pods = { apiVersion: 'v1', plural: 'pods' };
  expect(await call({ verb: 'list', ...pods })).toMatchObject({ type: 'list', items: [] });
  await expect(call({ verb: 'get', ...pods, namespace: 'x', name: 'a' })).rejects.toMatchObject({ code: 403 });
});

it('a direct call is first denied for a kind that does not exist, as over HTTP, and then not found', async () => {
  const unicorns = { verb: 'list', apiVersion: 'example.com/v1', plural: 'unicorns' } as const;
  const { asked, call } = await deciding(() => reject);
  await expect(call(unicorns)).rejects.toMatchObject({ code: 403 });
  expect(asked[0]).toMatchObject({ group: 'example.com', version: 'v1', resource: 'unicorns' });
  await expect((await deciding(() => allow)).call(unicorns)).rejects.toMatchObject({ code: 404 });
});

it('a direct call is allowed for everybody if no authorizer is set', async () => {
  const { server } = await testServer(allKinds);
  expect(await server.direct(ann)({ verb: 'list', apiVersion: 'v1', plural: 'secrets' })).toMatchObject({
    type: 'list',
  });
});
