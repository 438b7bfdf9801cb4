import { describe, expect, it } from 'vitest';
import { namedNode, namedNodes, requiredNodes } from './required-nodes.ts';
import { isKeptOff, isTolerated } from './tolerations.ts';

const node = { name: 'n', labels: { zone: 'a', cores: '8' } };
const isMet = (wishes: Parameters<typeof requiredNodes>[0]) => requiredNodes(wishes)?.(node);
const required = (...nodeSelectorTerms: object[]) =>
  ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  }) as Parameters<typeof requiredNodes>[0];
const label = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});
const named = (operator: string, ...values: string[]) => ({
  matchFields: [{ key: 'metadata.name', operator, values }],
});

describe('the nodes that a pod requires', () => {
  it('are all where it asks for nothing', () => {
    expect(requiredNodes({})).toBeUndefined();
    expect(requiredNodes({ nodeSelector: {} })).toBeUndefined();
  });

  it('have all labels of the selector, and what one of the terms asks', () => {
    expect(isMet({ nodeSelector: { zone: 'a' } })).toBe(true);
    expect(isMet({ nodeSelector: { zone: 'a', disk: 'ssd' } })).toBe(false);
    expect(isMet({ nodeSelector: { zone: 'b' }, ...required(named('In', 'n')) })).toBe(false);
    expect(isMet(required(label('zone', 'In', 'b'), named('In', 'n')))).toBe(true);
    expect(isMet(required({ ...label('zone', 'In', 'b'), ...named('In', 'n') }))).toBe(false);
    expect(isMet(required({}))).toBe(false);
  });

  it.each([
    ['In', ['a', 'b'], 'zone', true],
    ['In', ['a'], 'disk', false],
    ['NotIn', ['b'], 'zone', true],
    ['NotIn', ['b'], 'disk', true],
    ['Exists', [], 'zone', true],
    ['DoesNotExist', [], 'zone', false],
    ['Gt', ['7'], 'cores', true],
    ['Gt', ['8'], 'cores', false],
    ['Lt', ['9'], 'cores', true],
    ['Lt', ['9'], 'zone', false],
    ['Lt', ['many'], 'cores', false],
    ['Like', ['a'], 'zone', false],
  ] as const)('%s %j of %s: %s', (operator, values, key, holds) => {
    expect(isMet(required(label(key, operator, ...values)))).toBe(holds);
  });

  it('can be the one that it names', () => {
    expect(namedNode(required(named('In', 'n')))).toBe('n');
    expect(namedNode(required(named('In', 'n', 'm')))).toBeUndefined();
    expect(namedNode(required(named('NotIn', 'n')))).toBeUndefined();
    expect(namedNode({})).toBeUndefined();
  });

  it('can be only those that every term names', () => {
    expect(namedNodes(required(named('In', 'n', 'm'), named('In', 'o')))).toEqual(new Set(['n', 'm', 'o']));
    const both = { matchFields: [...named('In', 'n', 'm').matchFields, ...named('In', 'm').matchFields] };
    expect(namedNodes(required(both))).toEqual(new Set(['m']));
    expect(namedNodes(required(named('In', 'n'), label('zone', 'Exists')))).toBeUndefined();
    expect(namedNodes({})).toBeUndefined();
  });
});

const taint = { key: 'k', value: 'v', effect: 'NoSchedule' };
it.each([
  [{ operator: 'Exists' }, true],
  [{ key: 'k', operator: 'Exists' }, true],
  [{ key: 'k', operator: 'Equal', value: 'v' }, true],
  [{ key: 'k', value: 'v', effect: 'NoSchedule' }, true],
  [{ key: 'k', value: 'w' }, false],
  [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }, false],
  [{ key: 'other', operator: 'Exists' }, false],
])('a taint is tolerated by %j: %s', (toleration, holds) => {
  expect(isTolerated(taint, [toleration])).toBe(holds);
  expect(isTolerated(taint, [])).toBe(false);
  expect(isKeptOff([toleration], [{ ...taint, effect: 'PreferNoSchedule' }, taint])).toBe(!holds);
});
