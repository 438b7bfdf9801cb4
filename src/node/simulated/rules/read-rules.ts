/** Reads a rule file, of which somebody has parsed the YAML. What it does not know it refuses, so that a slip is seen. */
import { parseLabelSelector } from '../../../schema/selector.ts';
import { readStage, stageNames } from './read-stage.ts';
import { Reader, RuleError } from './reader.ts';
import type { NodeRule, Outage, PodMatch, PodRule, Rules, Stages } from './rules.ts';

export const NO_RULES: Rules = { pods: [], nodes: [] };

/** Throws a RuleError that says where the fault is. */
export function readRules(tree: unknown): Rules {
  if (tree === null || tree === undefined) return NO_RULES;
  const file = Reader.of(tree, '');
  const rules = {
    pods: file.list('pods', podRule),
    nodes: file.list('nodes', nodeRule),
  };
  file.end();
  return rules;
}

function podRule(rule: Reader): PodRule {
  const match = rule.child('match');
  const stages = rule.child('stages');
  const read = { match: match ? podMatch(match) : {}, stages: stages ? stagesOf(stages) : {} };
  rule.end();
  return read;
}

function podMatch(match: Reader): PodMatch {
  const labels = match.text('labels');
  const found: PodMatch = {
    ...match.optional('namespaces', (name) => match.texts(name)),
    ...match.optional('names', (name) => match.texts(name)),
    ...match.optional('nodes', (name) => match.texts(name)),
    ...match.optional('images', (name) => match.texts(name)),
    ...match.optional('owner', (name) => match.text(name)),
    ...match.optional('restartPolicy', (name) => match.texts(name)),
    ...match.optional('readinessProbe', (name) => match.boolean(name)),
    ...(labels === undefined ? {} : { labels: selector(labels, match) }),
  };
  match.end();
  return found;
}

function selector(text: string, match: Reader) {
  try {
    return parseLabelSelector(text);
  } catch (cause) {
    throw new RuleError(`${match.path}.labels: ${(cause as Error).message}`, { cause });
  }
}

function stagesOf(stages: Reader): Partial<Stages> {
  const found: Record<string, unknown> = {};
  for (const name of stageNames) {
    const value = stages.take(name);
    if (value !== undefined) found[name] = readStage(name, value, `${stages.path}.${name}`);
  }
  stages.end();
  return found;
}

function nodeRule(rule: Reader): NodeRule {
  const down = rule.child('down');
  const taints = rule.list('taints', taint);
  const read: NodeRule = {
    ...rule.optional('names', (name) => rule.texts(name)),
    ...rule.optional('labels', (name) => rule.map(name)),
    ...rule.optional('annotations', (name) => rule.map(name)),
    ...rule.optional('capacity', (name) => rule.map(name)),
    ...(taints.length > 0 ? { taints } : {}),
    ...(down ? { down: outage(down) } : {}),
  };
  rule.end();
  return read;
}

function taint(reader: Reader) {
  const read = {
    key: reader.required('key', (name) => reader.text(name)),
    ...reader.optional('value', (name) => reader.text(name)),
    effect: reader.required('effect', (name) => reader.text(name)),
  };
  reader.end();
  return read;
}

function outage(reader: Reader): Outage {
  const read = {
    after: reader.required('after', (name) => reader.span(name)),
    ...reader.optional('for', (name) => reader.span(name)),
  };
  reader.end();
  return read;
}
