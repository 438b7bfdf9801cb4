import { expect, it } from 'vitest';
import type { AnyObject } from '../../api/object-types.ts';
import { gatherStatus } from './gather-status.ts';

const FEDERATED = { metadata: { name: 'a', generation: 7 } } as unknown as AnyObject;
const gathered = (...statuses: object[]) =>
  gatherStatus(
    statuses.map((status) => ({ metadata: {}, status }) as unknown as AnyObject),
    FEDERATED,
  );
const ready = (status: string) => ({ type: 'Ready', status });

it('numbers are added, and the generation is that of the federated object', () => {
  expect(gathered({ replicas: 2, observedGeneration: 1 }, { replicas: 3, observedGeneration: 9 }, {})).toEqual({
    ...{ replicas: 5, observedGeneration: 7 },
  });
});

it('a condition holds when it holds everywhere, and one that a member does not have is left out', () => {
  expect(gathered({ conditions: [ready('True')] }, { conditions: [ready('False')] })).toEqual({
    conditions: [ready('False')],
  });
  expect(gathered({ conditions: [ready('True')] }, { conditions: [ready('True')] })).toEqual({
    conditions: [ready('True')],
  });
  expect(gathered({ conditions: [ready('True')] }, { conditions: [] })).toEqual({ conditions: [] });
});

it('fields that are the same everywhere are taken over, and fields that differ are left out', () => {
  expect(gathered({ phase: 'Up', address: 'a' }, { phase: 'Up', address: 'b' })).toEqual({ phase: 'Up' });
  expect(gathered({ phase: 'Up' }, {})).toEqual({});
});
