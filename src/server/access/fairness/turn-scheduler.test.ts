import { expect, it } from 'vitest';
import { Flow, TurnScheduler } from './turn-scheduler.ts';

const connected = { isDisconnected: false };

/** A scheduler whose turns the test runs, and which records the order of served requests. */
function setUp() {
  const order: string[] = [];
  let next: (() => void)[] = [];
  const turns = new TurnScheduler((task) => void next.push(task));
  const request = (flow: Flow, { cost = 1, client = connected, name = flow.name } = {}) => {
    const run = () => void order.push(name);
    if (turns.take(flow, cost)) run();
    else turns.park(flow, { cost, run, client });
  };
  const turn = () => {
    const now = next;
    next = [];
    for (const task of now) task();
    return order.splice(0);
  };
  return { turns, order, request, turn, isIdle: () => next.length === 0 };
}

const count = (order: readonly string[], name: string) => order.filter((each) => each === name).length;

it('does not delay a client because of a thousand requests of another', () => {
  const { request, order, turn } = setUp();
  const [flood, other] = [new Flow('flood'), new Flow('other')];
  request(other);
  for (let i = 0; i < 1_000; i++) request(flood);
  request(other);
  // The other flow's request is served in the turn in which it arrives, whatever part of the flood arrived before it.
  expect(count(order, 'other')).toBe(2);
  expect(count(order, 'flood')).toBeLessThanOrEqual(2);
  turn();
  for (let i = 0; i < 50; i++) {
    order.splice(0);
    for (let j = 0; j < 2; j++) request(flood);
    request(other);
    expect(order).toEqual(['other']);
    expect(count(turn(), 'flood')).toBe(2);
  }
});

it('serves every request, in the order of its flow', () => {
  const { request, order, turn, turns, isIdle } = setUp();
  const flows = Array.from({ length: 40 }, (_, index) => new Flow(`flow-${index}`));
  for (let i = 0; i < 30; i++) for (const flow of flows) request(flow, { name: `${flow.name} ${i}` });
  const done = order.splice(0);
  for (let i = 0; i < 1_000 && !isIdle(); i++) done.push(...turn());
  expect(turns.waiting).toBe(0);
  expect(done).toHaveLength(1_200);
  for (const flow of flows) {
    const own = done.filter((each) => each.startsWith(`${flow.name} `)).map((each) => Number(each.split(' ')[1]));
    expect(own).toEqual(own.toSorted((a, b) => a - b));
  }
});

it('serves every flow within a few turns', () => {
  const { request, turn, order } = setUp();
  const flows = Array.from({ length: 40 }, (_, index) => new Flow(`flow-${index}`));
  for (let i = 0; i < 100; i++) for (const flow of flows) request(flow);
  order.splice(0);
  const seen = new Set<string>();
  // A turn serves thirty-two flows, two requests each.
  for (let i = 0; i < 3; i++) for (const name of turn()) seen.add(name);
  expect(seen.size).toBe(flows.length);
});

it('hardly ever delays a flow that is alone', () => {
  const { request, turn, order } = setUp();
  const flow = new Flow('alone');
  for (let i = 0; i < 100; i++) {
    for (let j = 0; j < 60; j++) request(flow);
    expect(order.splice(0)).toHaveLength(60);
    turn();
  }
});

it('charges larger requests more of the quantum', () => {
  const { request, order } = setUp();
  const [lists, other] = [new Flow('lists'), new Flow('other')];
  request(other);
  for (let i = 0; i < 10; i++) request(lists, { cost: 10 });
  expect(count(order, 'lists')).toBe(1);
});

it('charges nothing for requests whose clients have disconnected', () => {
  const { request, order, turn } = setUp();
  const [flood, other] = [new Flow('flood'), new Flow('other')];
  request(other);
  for (let i = 0; i < 2; i++) request(flood);
  for (let i = 0; i < 500; i++) request(flood, { client: { isDisconnected: true }, name: 'gone' });
  request(flood, { name: 'last' });
  order.splice(0);
  expect(turn()).toContain('last');
});

it('schedules no turn when everything has been served', () => {
  const { request, turn, isIdle } = setUp();
  const flow = new Flow('a');
  for (let i = 0; i < 1_000; i++) request(flow);
  for (let i = 0; i < 50; i++) turn();
  expect(isIdle()).toBe(true);
});
