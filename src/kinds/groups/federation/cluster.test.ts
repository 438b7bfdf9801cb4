import { expect, test } from 'vitest';
import { create } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { Cluster } from './cluster.ts';

const kind: Kind<any> = Cluster;

test('a cluster has an address and the name of a secret', () => {
  const spec = {
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: 'https://192.0.2.1:6443' }],
    secretRef: { name: 'east' },
  };
  expect(create(kind, { metadata: { name: 'east' }, spec })).toMatchObject({
    object: { spec, status: {} },
    errors: [],
  });
});

test.each(['1east', 'East', 'east.example', '-east', 'a'.repeat(64)])('the name %s is no RFC 1035 label', (name) => {
  expect(kind.name?.(name, false)).not.toEqual([]);
});

test.each([
  [undefined, 'Unknown'],
  ['True', 'Ready'],
  ['False', 'NotReady'],
  ['Unknown', 'Unknown'],
])('a table shows a condition Ready of %s as %s', (status, shown) => {
  const conditions =
    status === undefined
      ? []
      : [
          { type: 'Offline', status: 'False' },
          { type: 'Ready', status },
        ];
  const cells = kind.columns!.map(({ cell }) =>
    cell({ metadata: { name: 'east' }, status: { conditions, region: 'r1', zones: ['a', 'b'] } } as never, 0),
  );
  expect(cells.slice(0, 4)).toEqual(['east', shown, 'r1', 'a,b']);
});
