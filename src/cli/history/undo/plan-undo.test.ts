import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { ObjectEvent } from './past.ts';
import { planUndo } from './plan-undo.ts';

interface More {
  readonly uid?: string;
  readonly status?: object;
  readonly metadata?: object;
}

const state = (version: number, replicas: number, { uid = 'u', status = {}, metadata = {} }: More = {}) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', uid, resourceVersion: String(version), generation: version, ...metadata },
    spec: { replicas },
    status,
  }) as unknown as KubeObject;
const modified = (object: KubeObject): ObjectEvent => ({ type: 'MODIFIED', object });

/** The history of one object; an undo is written as the server would write it. */
class History {
  readonly events: ObjectEvent[] = [];
  now: KubeObject | undefined;
  #version = 0;

  scale(replicas: number): this {
    return this.#write(this.now ? 'MODIFIED' : 'ADDED', {
      ...(this.now ?? state(0, 0, { uid: `u${this.#version}` })),
      spec: { replicas },
    } as never);
  }

  status(status: object): this {
    return this.#write('MODIFIED', { ...this.now, status } as never);
  }

  delete(): this {
    this.#write('DELETED', this.now as KubeObject);
    this.now = undefined;
    return this;
  }

  undo(to?: string): this {
    const plan = planUndo({ first: undefined, events: this.events, now: this.now }, to);
    if (plan.type === 'update') return this.#write('MODIFIED', plan.body);
    if (plan.type !== 'create') throw new Error(JSON.stringify(plan));
    const { metadata } = plan.body as KubeObject;
    return this.#write('ADDED', { ...plan.body, metadata: { ...metadata, uid: `u${this.#version}` } } as never);
  }

  get replicas(): number | undefined {
    return (this.now as { spec?: { replicas: number } } | undefined)?.spec?.replicas;
  }

  get version(): string {
    return String(this.#version);
  }

  #write(type: ObjectEvent['type'], object: KubeObject): this {
    this.#version++;
    this.now = { ...object, metadata: { ...object.metadata, resourceVersion: this.version } };
    this.events.push({ type, object: this.now });
    return this;
  }
}

describe('undo', () => {
  it('goes back behind changes of the status to the last one of the spec, and holds the present version', () => {
    const now = state(9, 5, { status: { ready: 5 } });
    const events = [modified(state(4, 2)), modified(state(6, 3)), modified(state(7, 5)), modified(now)];
    const plan = planUndo({ first: state(1, 1), events, now });
    expect(plan).toMatchObject({ type: 'update', body: { metadata: { resourceVersion: '9' }, spec: { replicas: 3 } } });
    expect(plan).toMatchObject({ body: { status: { ready: 5 } } });
  });

  it('takes the beginning of history where nothing else is left', () => {
    const now = state(9, 5);
    const plan = planUndo({ first: state(1, 1), events: [modified(now)], now });
    expect(plan).toMatchObject({ type: 'update', body: { spec: { replicas: 1 } } });
  });

  it('counts annotations that a controller writes with the status as status', () => {
    const revision = (number: string) => ({
      annotations: { 'deployment.kubernetes.io/revision': number, mine: number },
      managedFields: [
        {
          subresource: 'status',
          fieldsV1: { 'f:metadata': { 'f:annotations': { '.': {}, 'f:deployment.kubernetes.io/revision': {} } } },
        },
      ],
    });
    const now = state(9, 5, {
      metadata: { ...revision('2'), annotations: { ...revision('2').annotations, mine: '1' } },
    });
    const events = [
      modified(state(5, 3, { metadata: revision('1') })),
      modified(state(7, 5, { metadata: revision('1') })),
      modified(now),
    ];
    const plan = planUndo({ first: state(1, 1), events, now });
    const annotations = { 'deployment.kubernetes.io/revision': '2', mine: '1', 'quarterdeck.io/undo': 'from 9 to 5' };
    expect(plan).toMatchObject({ type: 'update', body: { metadata: { annotations }, spec: { replicas: 3 } } });
    expect(plan).not.toHaveProperty('body.metadata.managedFields');
  });

  it('creates a deleted object again, without what the server assigns', () => {
    const plan = planUndo({ first: undefined, events: [{ type: 'DELETED', object: state(8, 2) }], now: undefined });
    expect(plan).toMatchObject({ type: 'create' });
    expect(plan).toHaveProperty('body', {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', annotations: { 'quarterdeck.io/undo': 'from 8 to 8' } },
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
    ['one that has not changed', { first: state(3, 1), events: [], now: state(3, 1) }, 'no earlier state'],
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

  it('does not pretend to stop a deletion that is under way', () => {
    const now = state(9, 5, { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z', finalizers: ['a/b'] } });
    expect(planUndo({ first: state(1, 1), events: [modified(state(5, 5)), modified(now)], now })).toEqual({
      type: 'terminating',
      now,
    });
  });
});

describe('undo again', () => {
  it('goes back one more step each time', () => {
    const history = new History().scale(1).scale(2).scale(3).status({ ready: 3 });
    expect(history.undo().replicas).toBe(2);
    expect(history.status({ ready: 2 }).undo().replicas).toBe(1);
    expect(() => history.undo()).toThrow('delete it');
  });

  it('takes back a change that was made after an undo, and then goes on before it', () => {
    const history = new History().scale(1).scale(2).scale(3).undo().scale(7);
    expect(history.undo().replicas).toBe(2);
    expect(history.undo().replicas).toBe(1);
  });

  it('does not take a change back to an earlier value for an undo', () => {
    const history = new History().scale(3).scale(2).scale(3);
    expect(history.undo().replicas).toBe(2);
    // The annotation of the undo stays when others change the object.
    expect(history.scale(4).scale(2).undo().replicas).toBe(4);
  });

  it('redoes what was undone with the version before the undo', () => {
    const history = new History().scale(1).scale(2).scale(3);
    const { version } = history;
    expect(history.undo().undo().replicas).toBe(1);
    expect(history.undo(version).replicas).toBe(3);
    expect(history.undo().replicas).toBe(2);
  });

  it('goes back behind a deletion that was undone', () => {
    const history = new History().scale(1).scale(2).delete();
    expect(history.undo().replicas).toBe(2);
    expect(history.undo().replicas).toBe(1);
    expect(history.now?.metadata.uid).toBe('u3');
  });

  it('says that nothing is known about a time before the object existed', () => {
    const { events, now } = new History().scale(1).delete().scale(2);
    for (const [version, why] of [
      ['2', 'did not exist at version 2'],
      ['3', 'as it was'],
    ] as const) {
      const plan = planUndo({ first: undefined, events, now }, version);
      expect(plan).toMatchObject({ type: 'nothing', why: expect.stringContaining(why) });
    }
  });
});
