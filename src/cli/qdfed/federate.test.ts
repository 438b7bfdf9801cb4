import { expect, it } from 'vitest';
import { ApiError } from '../../api/errors.ts';
import { createClient } from '../../client/client.ts';
import type { Transport } from '../../client/transport/transport.ts';
import { grantRights } from './federate.ts';
import type { ClusterAccess } from './members/contexts.ts';
import { repeatableSteps } from './steps/repeatable-steps.ts';

it('a member that does not answer keeps no other from its rights, and is named', async () => {
  const created: string[] = [];
  const access = (context: string): ClusterAccess => {
    const transport: Transport = {
      async call({ verb, name = '' }) {
        if (context === 'east') throw new ApiError('Timeout', 'the cluster of context "east": it does not answer');
        if (verb === 'get') throw new ApiError('NotFound', `${name} not found`);
        created.push(context);
        return {
          type: 'object',
          object: { kind: 'ClusterRole', apiVersion: 'rbac.authorization.k8s.io/v1', metadata: {} },
        };
      },
      watch: () => Promise.reject(new Error('not watched')),
    };
    return { context, connection: { server: 'https://127.0.0.1:1' }, client: createClient(transport) };
  };
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const members = ['east', 'north', 'south', 'west'].map((name) => ({
    ...{ metadata: { name }, spec: { serverAddressByClientCIDRs: [] } },
  }));
  const granting = grantRights(members, {
    ...{ name: 'statefulsets.apps', kinds: [], federation: 'fed', namespace: 'federation-system' },
    steps: repeatableSteps({ write }),
    open: async ({ metadata: { name = '' } }) => {
      if (name === 'north') throw new Error('cannot read tokenFile /none: it does not exist');
      return name === 'south' ? undefined : access(name);
    },
  });
  await expect(granting).rejects.toThrow(
    'the federation has no rights for statefulsets.apps in east, north; run the command again when they can be reached',
  );
  expect(created).toEqual(['west']);
  expect(text.replace(/ \(\d+ ms\)/g, '').split('\n')).toEqual([
    'rights         not in east: the cluster of context "east": it does not answer',
    'rights         not in north: cannot read tokenFile /none: it does not exist',
    expect.stringMatching(/^rights {9}south has no context: add statefulsets.apps to its ClusterRole /),
    'rights         statefulsets.apps in west',
    '',
  ]);
});
