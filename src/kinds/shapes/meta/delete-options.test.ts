import { expect, test } from 'vitest';
import { decode } from '../../../schema/decode/decode.ts';
import { validate } from '../../../schema/validate.ts';
import { DeleteOptions } from './delete-options.ts';

test.each<[object, ...string[]]>([
  [{}],
  [{ gracePeriodSeconds: 0, propagationPolicy: 'Foreground', dryRun: ['All'], preconditions: { uid: 'u' } }],
  [
    { orphanDependents: true, propagationPolicy: 'Orphan' },
    'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
  ],
  [
    { propagationPolicy: 'Perhaps' },
    'propagationPolicy: Unsupported value: "Perhaps": supported values: "Foreground", "Background", "Orphan", "nil"',
  ],
  [{ gracePeriodSeconds: -1 }, 'gracePeriodSeconds: Invalid value: -1: must be greater than or equal to 0'],
  [{ dryRun: ['Some'] }, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
  [
    { ignoreStoreReadErrorWithClusterBreakingPotential: true, gracePeriodSeconds: 1 },
    'ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with .gracePeriodSeconds',
  ],
])('a delete with %j', (options, ...errors) => {
  const context = { operation: 'create', old: undefined, subresource: undefined, apiVersion: 'v1' } as const;
  const found = validate(DeleteOptions, decode(DeleteOptions, options), context);
  expect(found.map(({ field, message }) => `${field}: ${message}`)).toEqual(errors);
});
