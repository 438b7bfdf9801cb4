import { expect, it } from 'vitest';
import { Flow, Turns } from './turns.ts';

const here = { isDisconnected: false };

/** Turns whose loop turns when the test says so, and the order in which requests were worked on. */
function world() {
  const order: string[] = [];
  let next: (() => void)[] = [];
  const turns = new Turns((task) => void next.push(task));
  const ask = (flow: Flow, { cost = 1, client = here, name = flow.name } = {}) => {
    const go = () => void order.push(name);
    if (turns.take(flow, cost)) go();
    else turns.park(flow, { cost, go, client });
  };
  const turn = () => {
    const now = next;
    next = [];
    for (const task of now) task();
    return order.splice(0);
  };
  return { turns, order, ask, turn, isIdle: () => next.length === 0 };
}

const count = (order: readonly string[], name: string) => order.filter((each) => each === name).length;

it('a thousand requests of one client do not go before one of another', () => {
  const { ask, order, turn } = world();
  const [flood, other] = [new Flow('flood'), new Flow('other')];
  ask(other);
  for (let i = 0; i < 1_000; i++) ask(flood);
  ask(other);
  // Whatever of the flood came first, the other's request is worked on in the turn in which it came.
  expect(count(order, 'other')).toBe(2);
  expect(count(order, 'flood')).toBeLessThanOrEqual(2);
  turn();
  for (let i = 0; i < 50; i++) {
    order.splice(0);
    for (let j = 0; j < 2; j++) ask(flood);
    ask(other);
    expect(order).toEqual(['other']);
    expect(count(turn(), 'flood')).toBe(2);
  }
});

it('every request gets its turn, in the order of its flow', () => {
  const { ask, order, turn, turns, isIdle } = world();
  const flows = Array.from({ length: 40 }, (_, index) => new Flow(`flow-${index}`));
  for (let i = 0; i < 30; i++) for (const flow of flows) ask(flow, { name: `${flow.name} ${i}` });
  const done = order.splice(0);
  for (let i = 0; i < 1_000 && !isIdle(); i++) done.push(...turn());
  expect(turns.waiting).toBe(0);
  expect(done).toHaveLength(1_200);
  for (const flow of flows) {
    const own = done.filter((each) => each.startsWith(`${flow.name} `)).map((each) => Number(each.split(' ')[1]));
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
});

it('no flow is left out of more turns than there are others', () => {
  const { ask, turn, order } = world();
  const flows = Array.from({ length: 40 }, (_, index) => new Flow(`flow-${index}`));
  for (let i = 0; i < 100; i++) for (const flow of flows) ask(flow);
  order.splice(0);
  const seen = new Set<string>();
  // Thirty-two flows of two are a turn.
  for (let i = 0; i < 3; i++) for (const name of turn()) seen.add(name);
  expect(seen.size).toBe(flows.length);
});

it('who is alone is hardly ever made to wait', () => {
  const { ask, turn, order } = world();
  const flow = new Flow('alone');
  for (let i = 0; i < 100; i++) {
    for (let j = 0; j < 60; j++) ask(flow);
    expect(order.splice(0)).toHaveLength(60);
    turn();
  }
});

it('what is larger counts for more', () => {
  const { ask, order } = world();
  const [lists, other] = [new Flow('lists'), new Flow('other')];
  ask(other);
  for (let i = 0; i < 10; i++) ask(lists, { cost: 10 });
  expect(count(order, 'lists')).toBe(1);
});

it('requests whose clients have left cost nothing', () => {
  const { ask, order, turn } = world();
  const [flood, other] = [new Flow('flood'), new Flow('other')];
  ask(other);
  for (let i = 0; i < 2; i++) ask(flood);
  for (let i = 0; i < 500; i++) ask(flood, { client: { isDisconnected: true }, name: 'gone' });
  ask(flood, { name: 'last' });
  order.splice(0);
  expect(turn()).toContain('last');
});

it('nothing is left to do when everybody has been served', () => {
  const { ask, turn, isIdle } = world();
  const flow = new Flow('a');
  for (let i = 0; i < 1_000; i++) ask(flow);
  for (let i = 0; i < 50; i++) turn();
  expect(isIdle()).toBe(true);
});
