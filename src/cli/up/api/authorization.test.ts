import { expect, it } from 'vitest';
import { authorization } from './authorization.ts';

it.each([
  [['RBAC'], ['Node', 'RBAC']],
  [
    ['Node', 'RBAC'],
    ['Node', 'RBAC'],
  ],
  [
    ['RBAC', 'Node'],
    ['RBAC', 'Node'],
  ],
  [['AlwaysAllow'], ['AlwaysAllow']],
] as const)('the modes %j are %j: where roles decide, nodes can do their work', async (authorizationMode, modes) => {
  expect(await authorization({ authorizationMode } as any)).toEqual({ authorization: modes });
});
