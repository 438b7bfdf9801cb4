import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type TestObject, testKind } from '../../../test/support/scripted-api.ts';
import { ApiError } from '../../api/errors.ts';
import { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import { type ApiAction, type Performer, performAll } from './perform.ts';
import { create, createFollowed, deleteCollection, update, updateStatus } from './plan.ts';

const Member = testKind<TestObject>('members', 'Member', 'Namespaced');

/** Performs the actions with a client that has one resource. */
const performWith = (resource: object, actions: readonly ApiAction[], budget: TurnBudget) =>
  performAll(actions, {
    client: { of: () => resource },
    signal: new AbortController().signal,
    onWrite: () => {},
    record: () => {},
    listerOf: () => undefined,
    budget,
  } as unknown as Performer);

/** A server that answers in the next turn, and counts. */
class Scene {
  inProgress = 0;
  highest = 0;
  calls = 0;
  /** Number of calls that began in each turn of the event loop. */
  readonly begun = new Map<number, number>();
  #turn = 0;
  #time = 0;

  constructor(readonly error?: Error) {}

  async perform(actions: readonly ApiAction[], budgetMs = Number.POSITIVE_INFINITY): Promise<void> {
    const resource = { create: () => this.#call(), deleteCollection: () => this.#call(), in: () => resource };
    const count = () => {
      this.#turn++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    try {
      // Every call takes a millisecond.
      await performWith(resource, actions, new TurnBudget({ monotonic: () => this.#time }, budgetMs));
    } finally {
      clearImmediate(counting);
    }
  }

  async #call(): Promise<object> {
    this.calls++;
    this.#time++;
    this.begun.set(this.#turn, (this.begun.get(this.#turn) ?? 0) + 1);
    this.highest = Math.max(this.highest, ++this.inProgress);
    await nextTurn();
    this.inProgress--;
    if (this.error) throw this.error;
    return { metadata: {} };
  }
}

const creates = (count: number) =>
  Array.from({ length: count }, () => create(Member, { metadata: { namespace: 'x' } as any }) as ApiAction);
const deletions = (count: number) => Array.from({ length: count }, () => deleteCollection(Member, 'x') as ApiAction);

describe('the actions of a plan', () => {
  it.each([
    ['creates', creates(3000)],
    ['deletions of collections', deletions(3000)],
  ])('are performed a limited number at a time: %s', async (_, actions) => {
    const scene = new Scene();
    await scene.perform(actions);
    expect(scene.calls).toBe(3000);
    expect(scene.highest).toBeGreaterThan(100);
    expect(scene.highest).toBeLessThanOrEqual(256);
  });

  it.each([
    ['creates', creates(500)],
    ['deletions of collections', deletions(500)],
  ])('start over several turns of the event loop: %s', async (_, actions) => {
    const scene = new Scene();
    await scene.perform(actions, 10);
    expect(scene.calls).toBe(500);
    expect(Math.max(...scene.begun.values())).toBeLessThanOrEqual(10);
  });

  it('can be followed by others that need what was created', async () => {
    const scene = new Scene();
    const seen: unknown[] = [];
    const followedBy = (created: object) => {
      seen.push(created);
      return deleteCollection(Member, 'x');
    };
    await scene.perform([createFollowed(Member, { metadata: { namespace: 'x' } as any }, { followedBy }) as ApiAction]);
    expect(seen).toEqual([{ metadata: {} }]);
    expect(scene.calls).toBe(2);
  });

  it('stop after the first failure, apart from deletions of collections, which are all tried', async () => {
    const scene = new Scene(new ApiError('Forbidden', 'no'));
    await expect(scene.perform(creates(1000))).rejects.toThrow('no');
    expect(scene.calls).toBe(1);
    const other = new Scene(new ApiError('Forbidden', 'no'));
    await expect(other.perform(deletions(1000))).rejects.toThrow('1000 actions failed');
    expect(other.calls).toBe(1000);
  });
});

it('sends no managers of fields in an update, so that the server keeps them', async () => {
  const sent: unknown[] = [];
  const take = async (object: object) => {
    sent.push(object);
    return object;
  };
  const resource = { update: take, updateStatus: take, in: () => resource };
  const metadata = { name: 'a', namespace: 'x', labels: { app: 'a' } };
  const object = { metadata: { ...metadata, managedFields: [{ manager: 'kubectl' }] }, status: {} } as any;
  const writes = [update(Member, object), updateStatus(Member, object)] as ApiAction[];
  await performWith(resource, writes, new TurnBudget({ monotonic: () => 0 }, 1));
  expect(sent).toEqual([
    { metadata, status: {} },
    { metadata, status: {} },
  ]);
});
