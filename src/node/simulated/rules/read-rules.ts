/** Reads a rule file that was parsed from YAML. Unknown fields are errors. */
import { parseLabelSelector } from '../../../schema/selector/selector.ts';
import { DocumentReader, RuleError } from './document-reader.ts';
import { readStage, stageNames } from './read-stage.ts';
import type { NodeRule, Outage, PodMatch, PodRule, Rules, Stages } from './rules.ts';

export const NO_RULES: Rules = { pods: [], nodes: [] };

/** Throws a RuleError with the path of the error. */
export function readRules(tree: unknown): Rules {
  if (tree === null || tree === undefined) return NO_RULES;
  const file = DocumentReader.of(tree, '');
  const rules = {
    pods: file.list('pods', podRule),
    nodes: file.list('nodes', nodeRule),
  };
  file.finish();
  return rules;
}

function podRule(rule: DocumentReader): PodRule {
  const match = rule.child('match');
  const stages = rule.child('stages');
  const read = { match: match ? podMatch(match) : {}, stages: stages ? stagesOf(stages) : {} };
  rule.finish();
  return read;
}

function podMatch(match: DocumentReader): PodMatch {
  const labels = match.string('labels');
  const found: PodMatch = {
    ...match.optional('namespaces', (name) => match.strings(name)),
    ...match.optional('names', (name) => match.strings(name)),
    ...match.optional('nodes', (name) => match.strings(name)),
    ...match.optional('images', (name) => match.strings(name)),
    ...match.optional('owner', (name) => match.string(name)),
    ...match.optional('restartPolicy', (name) => match.strings(name)),
    ...match.optional('readinessProbe', (name) => match.boolean(name)),
    ...(labels === undefined ? {} : { labels: selector(labels, match) }),
  };
  match.finish();
  return found;
}

function selector(text: string, match: DocumentReader) {
  try {
    return parseLabelSelector(text);
  } catch (cause) {
    throw new RuleError(`${match.path}.labels: ${(cause as Error).message}`, { cause });
  }
}

function stagesOf(stages: DocumentReader): Partial<Stages> {
  const found: Record<string, unknown> = {};
  for (const name of stageNames) {
    const value = stages.take(name);
    if (value !== undefined) found[name] = readStage(name, value, `${stages.path}.${name}`);
  }
  stages.finish();
  return found;
}

function nodeRule(rule: DocumentReader): NodeRule {
  const down = rule.child('down');
  const taints = rule.list('taints', taint);
  const read: NodeRule = {
    ...rule.optional('names', (name) => rule.strings(name)),
    ...rule.optional('labels', (name) => rule.map(name)),
    ...rule.optional('annotations', (name) => rule.map(name)),
    ...rule.optional('capacity', (name) => rule.map(name)),
    ...(taints.length > 0 ? { taints } : {}),
    ...(down ? { down: outage(down) } : {}),
  };
  rule.finish();
  return read;
}

function taint(reader: DocumentReader) {
  const read = {
    key: reader.required('key', (name) => reader.string(name)),
    ...reader.optional('value', (name) => reader.string(name)),
    effect: reader.required('effect', (name) => reader.string(name)),
  };
  reader.finish();
  return read;
}

function outage(reader: DocumentReader): Outage {
  const read = {
    after: reader.required('after', (name) => reader.duration(name)),
    ...reader.optional('for', (name) => reader.duration(name)),
  };
  reader.finish();
  return read;
}
