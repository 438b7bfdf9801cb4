import { expect, it } from 'vitest';
import { Registry } from '../registry/registry.ts';
import { deletePlan } from './delete-options.ts';

const registry = new Registry([], []);
const plan = (options: object, body?: object) => deletePlan({ apiVersion: 'v1', options, body }, registry);
const rejection = (options: object, body: object) => {
  try {
    plan(options, body);
  } catch (error) {
    return (error as { toStatus(): { code: number; message: string } }).toStatus();
  }
  return undefined;
};

it('the options of a delete come from the query and the body together', () => {
  const query = { propagationPolicy: 'Orphan', dryRun: ['All'] };
  const body = { gracePeriodSeconds: 5, preconditions: { uid: 'u', resourceVersion: '7' } };
  const together = {
    gracePeriodSeconds: 5,
    propagation: 'Orphan',
    uid: 'u',
    resourceVersion: '7',
    dryRun: true,
  };
  expect(plan(query, body)).toMatchObject(together);
  expect(plan({ gracePeriodSeconds: 5 }, { ...query, preconditions: body.preconditions })).toMatchObject(together);
});

it.each([{}, { kind: 'DeleteOptions', apiVersion: 'v1' }, { propagationPolicy: null }])(
  'the options of a delete come from the query where the body is %j',
  (body) => {
    expect(plan({ propagationPolicy: 'Orphan', gracePeriodSeconds: 0 }, body)).toMatchObject({
      propagation: 'Orphan',
      gracePeriodSeconds: 0,
    });
    expect(plan({ orphanDependents: true }, body).propagation).toBe('Orphan');
    expect(plan({ orphanDependents: false }, body).propagation).toBe('Background');
  },
);

it('the options of a delete are taken from the body if both set one', () => {
  const query = { gracePeriodSeconds: 0, propagationPolicy: 'Orphan' };
  expect(plan(query, { gracePeriodSeconds: 9, propagationPolicy: 'Foreground' })).toMatchObject({
    gracePeriodSeconds: 9,
    propagation: 'Foreground',
  });
});

it('the options of a delete are a dry run if either requests one', () => {
  expect(plan({ dryRun: ['All'] }, { dryRun: [] }).dryRun).toBe(true);
  expect(plan({}, { dryRun: ['All'] }).dryRun).toBe(true);
  expect(plan({ dryRun: ['All'] }, { dryRun: ['All'] }).dryRun).toBe(true);
  expect(plan({}, { dryRun: [] }).dryRun).toBe(false);
  expect(rejection({ dryRun: ['Some'] }, { dryRun: ['All'] })?.code).toBe(422);
});

it.each([
  [{ orphanDependents: true }, { propagationPolicy: 'Orphan' }],
  [{ orphanDependents: false }, { propagationPolicy: 'Background' }],
  [{ propagationPolicy: 'Orphan' }, { orphanDependents: true }],
  [{ propagationPolicy: 'Orphan', orphanDependents: true }, {}],
])(
  'the options of a delete are invalid with both forms of the propagation policy: %j in the query, %j in the body',
  (query, body) => {
    expect(rejection(query, body)).toMatchObject({
      code: 422,
      message: expect.stringContaining('orphanDependents and deletionPropagation cannot be both set'),
    });
  },
);

it('the options of a delete are invalid in the query as in the body', () => {
  expect(rejection({ gracePeriodSeconds: -1 }, {})?.code).toBe(422);
  expect(rejection({ propagationPolicy: 'Never' }, {})?.code).toBe(422);
});
