import { expect, test } from 'vitest';
import { decode } from '../../../schema/decode/decode.ts';
import { validate } from '../../../schema/validate.ts';
import { DeploymentRollback } from './deployment-rollback.ts';

function errorsOf(body: object): string[] {
  const context = { operation: 'create', old: undefined, subresource: undefined, apiVersion: 'apps/v1beta1' } as const;
  return validate(DeploymentRollback, decode(DeploymentRollback, body), context).map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

test('a rollback must name its Deployment', () => {
  expect(errorsOf({ name: 'a', rollbackTo: { revision: 2 } })).toEqual([]);
  expect(errorsOf({ rollbackTo: {} })).toEqual(['name: Required value: name is required']);
});

test('a rollback without a revision targets the previous one', () => {
  expect(decode(DeploymentRollback, { name: 'a' }).rollbackTo).toEqual({});
});

test('a negative revision is rejected', () => {
  expect(errorsOf({ name: 'a', rollbackTo: { revision: -1 } })).toEqual([
    'rollback.version: Invalid value: -1: must be greater than or equal to 0',
  ]);
});

test('annotations are validated like those of any object', () => {
  expect(errorsOf({ name: 'a', updatedAnnotations: { why: 'test' } })).toEqual([]);
  expect(errorsOf({ name: 'a', updatedAnnotations: { 'a/b/c': 'test' } })[0]).toMatch(
    /^updatedAnnotations: Invalid value: "a\/b\/c": a valid label key/,
  );
});
