/** JSON in annotations. Clients can write anything there, so text that does not fit its schema counts as absent. */
import { isTree, type Tree } from '../../../base/json/tree.ts';
import { s } from '../../../schema/builders.ts';
import { DecodeError, decode } from '../../../schema/decode/decode.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';
import { HorizontalPodAutoscalerBehavior } from './scaling-behavior.ts';

/** Parses a list of objects. */
export function parseList<T>(items: ObjectSchema<T>, text: string | undefined): readonly T[] | undefined {
  const holder = s.object('List', { items: s.list(items) });
  return parsed(text, (value) => decode(holder, { items: value }).items as T[] | undefined);
}

/** Kubernetes writes the keys of this annotation with a capital first letter. */
export function formatBehavior({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): string {
  const rules = (each: typeof scaleUp | typeof scaleDown) => ({
    ...upperCaseKeys(each),
    Policies: each.policies.map(upperCaseKeys),
  });
  return JSON.stringify({ ScaleUp: rules(scaleUp), ScaleDown: rules(scaleDown) });
}

export function parseBehavior(text: string | undefined): HorizontalPodAutoscalerBehavior | undefined {
  return parsed(text, (value) => {
    const behavior = lowerCaseKeys(value);
    if (!isTree(behavior)) return undefined;
    const { scaleUp, scaleDown } = behavior;
    if (!isTree(scaleUp) && !isTree(scaleDown)) return undefined;
    return decode(HorizontalPodAutoscalerBehavior, {
      scaleUp: lowerCaseRules(scaleUp),
      scaleDown: lowerCaseRules(scaleDown),
    });
  });
}

function lowerCaseRules(value: unknown): unknown {
  const rules = lowerCaseKeys(value);
  if (!isTree(rules) || !Array.isArray(rules.policies)) return rules;
  return { ...rules, policies: rules.policies.map(lowerCaseKeys) };
}

const upperCaseKeys = (tree: object) => mapFirstLetters(tree, (letter) => letter.toUpperCase());

function lowerCaseKeys(value: unknown): unknown {
  return isTree(value) ? mapFirstLetters(value, (letter) => letter.toLowerCase()) : value;
}

function mapFirstLetters(tree: object, change: (letter: string) => string): Tree {
  return Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [change(key.slice(0, 1)) + key.slice(1), value]),
  );
}

function parsed<T>(text: string | undefined, read: (value: unknown) => T | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return read(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof DecodeError) return undefined;
    throw error;
  }
}
