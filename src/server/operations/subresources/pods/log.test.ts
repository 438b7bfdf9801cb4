import { beforeEach, expect, it } from 'vitest';
import { type TestServer, testServer } from '../../../../../test/support/server.ts';
import { Namespace } from '../../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import type { NodeConnection } from '../../../outbound/nodes/connection.ts';

type LogRequest = Parameters<NodeConnection['logs']>[0];

const AT = { name: 'a', subresource: 'log' };

let api: TestServer;
let requests: LogRequest[];
beforeEach(async () => {
  api = await testServer([Namespace, Pod]);
  requests = [];
  api.reachNodesBy({
    async logs(request: LogRequest) {
      requests.push(request);
      return (async function* () {})();
    },
  } as never);
  const spec = { containers: [{ name: 'main', image: 'busybox:1' }], nodeName: 'one' };
  await api.create('pods', { metadata: { name: 'a' }, spec });
});

const read = (parameters: object) =>
  api.server.handle({
    ...{ verb: 'get', plural: 'pods', apiVersion: 'v1', namespace: 'default', ...AT },
    user: { name: 'tester', groups: [] },
    parameters: parameters as never,
  });

it.each([
  [{ sinceSeconds: 60 }, -60_000],
  [{ sinceSeconds: -60 }, 60_000],
  [{ sinceSeconds: -1, follow: true, tailLines: 5 }, 1000],
  [{ sinceTime: '2040-01-01T00:00:00Z' }, Date.parse('2040-01-01T00:00:00Z') - Date.parse('2030-01-01T00:00:00Z')],
])('reads lines from the time that %j names, which may be in the future', async (parameters, offset) => {
  expect((await read(parameters)).type).toBe('stream');
  expect(requests).toEqual([expect.objectContaining({ since: api.clock.now() + offset })]);
});

it.each([{ sinceSeconds: 0 }, { sinceSeconds: 5, sinceTime: '2040-01-01T00:00:00Z' }, { tailLines: -1 }])(
  'rejects %j',
  async (parameters) => {
    await expect(read(parameters)).rejects.toMatchObject({ code: 422 });
    expect(requests).toEqual([]);
  },
);
