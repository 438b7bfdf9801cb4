import { describe, expect, it } from 'vitest';
import { planUndo } from './plan-undo.ts';

const state = (version: number, replicas: number, more: { uid?: string; status?: object } = {}) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', uid: more.uid ?? 'u', resourceVersion: String(version), generation: version },
    spec: { replicas },
    status: more.status ?? {},
  }) as never;
const modified = (object: never) => ({ type: 'MODIFIED', object }) as const;

describe('undo', () => {
  it('goes back behind changes of the status to the last one of the spec, and holds the present version', () => {
    const now = state(9, 5, { status: { ready: 5 } });
    const events = [modified(state(4, 2)), modified(state(6, 3)), modified(state(7, 5)), modified(now)];
    const plan = planUndo({ first: state(1, 1), events, now });
    expect(plan).toMatchObject({ type: 'update', body: { metadata: { resourceVersion: '9' }, spec: { replicas: 3 } } });
  });

  it('takes the beginning of history where nothing else is left', () => {
    const now = state(9, 5);
    const plan = planUndo({ first: state(1, 1), events: [modified(now)], now });
    expect(plan).toMatchObject({ type: 'update', body: { spec: { replicas: 1 } } });
  });

  it('creates a deleted object again, without what the server assigns', () => {
    const plan = planUndo({ first: undefined, events: [{ type: 'DELETED', object: state(8, 2) }], now: undefined });
    expect(plan).toMatchObject({ type: 'create' });
    expect(plan).toHaveProperty('body', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 2 },
    });
  });

  it.each([
    ['an object that was never there', { first: undefined, events: [], now: undefined }, 'not in the history'],
    [
      'one that was only created',
      { first: undefined, events: [{ type: 'ADDED', object: state(3, 1) } as const], now: state(3, 1) },
      'delete it',
    ],
    ['one that has not changed', { first: state(3, 1), events: [], now: state(3, 1) }, 'has not changed'],
    [
      'one that replaced another of the same name',
      {
        first: state(1, 7, { uid: 'old' }),
        events: [{ type: 'ADDED', object: state(3, 1) } as const],
        now: state(3, 1),
      },
      'delete it',
    ],
  ])('does nothing to %s', (_, past, why) => {
    expect(planUndo(past)).toMatchObject({ type: 'nothing', why: expect.stringContaining(why) });
  });
});
