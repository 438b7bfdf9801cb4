import { expect, test } from 'vitest';
import { type FoundMachine, planRoll } from './plan.ts';

const server = (name: string, version: string | undefined = '0.1.0', more: Partial<FoundMachine> = {}) =>
  ({ kind: 'server', name, hostname: name, version, ...more }) as const;
const agent = (name: string, version: string | undefined = '0.1.0', more: Partial<FoundMachine> = {}) =>
  ({ kind: 'agent', name, version, ...more }) as const;

const options = { release: { version: '0.2.0', level: 2 }, leader: 'b', parallel: 1 };
const namesOf = (steps: readonly (readonly FoundMachine[])[]) => steps.map((step) => step.map(({ name }) => name));

test('servers go one by one, the leader last, and then agents', () => {
  const machines = [agent('x'), server('a'), server('b'), agent('y'), server('c')];
  const { steps, done, leftOut, problems } = planRoll(machines, options);
  expect(namesOf(steps)).toEqual([['a'], ['c'], ['b'], ['x'], ['y']]);
  expect([done, leftOut, problems]).toEqual([[], [], []]);
});

test('several agents may go at the same time, servers never', () => {
  const machines = [server('a'), server('b'), ...['x', 'y', 'z'].map((name) => agent(name))];
  expect(namesOf(planRoll(machines, { ...options, parallel: 2 }).steps)).toEqual([['a'], ['b'], ['x', 'y'], ['z']]);
});

test('machines that run the release are left as they are, so that the command can be repeated', () => {
  const machines = [server('a', '0.2.0'), server('b'), agent('x', '0.2.0', { obstacle: 'off' }), agent('y')];
  const { steps, done, leftOut } = planRoll(machines, options);
  expect(namesOf(steps)).toEqual([['b'], ['y']]);
  expect(namesOf([done, leftOut])).toEqual([['a', 'x'], []]);
});

test('on the way back, agents precede their servers', () => {
  const machines = [server('a', '0.2.0'), server('b'), agent('x', '0.2.0')];
  const { steps } = planRoll(machines, { ...options, release: { version: '0.1.0', level: 1 } });
  expect(namesOf(steps)).toEqual([['x'], ['a']]);
});

test('agents that cannot be reached are left out, and servers stop everything', () => {
  const gone = { obstacle: 'connection refused' };
  const unseen = agent('x', '0.1.0', gone);
  expect(planRoll([server('a'), unseen], options)).toMatchObject({ leftOut: [unseen], problems: [], steps: [[{}]] });
  expect(planRoll([server('a'), server('b', undefined, gone)], options).problems).toEqual([
    'server b: connection refused',
  ]);
});

test('one minor version at a time, for servers and agents', () => {
  const machines = [server('a'), agent('x'), agent('y', '0.2.9')];
  const { problems } = planRoll(machines, { ...options, release: { version: '0.3.0', level: 3 } });
  expect(problems).toEqual([
    'server a runs 0.1.0, and the package is 0.3.0: go one minor version at a time',
    'agent x runs 0.1.0, and the package is 0.3.0: go one minor version at a time',
  ]);
});
