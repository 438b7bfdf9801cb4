/** What an annotation holds as JSON. Anybody can write there: what does not fit its description counts as absent. */
import { isTree, type Tree } from '../../../base/tree.ts';
import { s } from '../../../schema/builders.ts';
import { DecodeError, decode } from '../../../schema/decode.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';
import { HorizontalPodAutoscalerBehavior } from './scaling-behavior.ts';

/** The objects of a list. */
export function listIn<T>(items: ObjectSchema<T>, text: string | undefined): readonly T[] | undefined {
  const holder = s.object('List', { items: s.list(items) });
  return understood(text, (value) => decode(holder, { items: value }).items as T[] | undefined);
}

/** Keys begin with capital letters here, for no better reason than that they always have. */
export function behaviorText({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): string {
  const rules = (each: typeof scaleUp | typeof scaleDown) => ({
    ...capital(each),
    Policies: each.policies.map(capital),
  });
  return JSON.stringify({ ScaleUp: rules(scaleUp), ScaleDown: rules(scaleDown) });
}

export function behaviorIn(text: string | undefined): HorizontalPodAutoscalerBehavior | undefined {
  return understood(text, (value) => {
    const behavior = small(value);
    if (!isTree(behavior)) return undefined;
    const { scaleUp, scaleDown } = behavior;
    if (!isTree(scaleUp) && !isTree(scaleDown)) return undefined;
    return decode(HorizontalPodAutoscalerBehavior, { scaleUp: smallRules(scaleUp), scaleDown: smallRules(scaleDown) });
  });
}

function smallRules(value: unknown): unknown {
  const rules = small(value);
  if (!isTree(rules) || !Array.isArray(rules.policies)) return rules;
  return { ...rules, policies: rules.policies.map(small) };
}

const capital = (tree: object) => keysBegin(tree, (letter) => letter.toUpperCase());

function small(value: unknown): unknown {
  return isTree(value) ? keysBegin(value, (letter) => letter.toLowerCase()) : value;
}

function keysBegin(tree: object, change: (letter: string) => string): Tree {
  return Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [change(key.slice(0, 1)) + key.slice(1), value]),
  );
}

function understood<T>(text: string | undefined, read: (value: unknown) => T | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return read(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DecodeError) return undefined;
    throw error;
  }
}
