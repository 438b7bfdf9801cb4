/** Reads a rule file that was parsed from YAML. Unknown fields are errors. */
import { parseLabelSelector } from '../../../schema/selector/selector.ts';
import { DocumentReader, RuleError } from './document-reader.ts';
import { readStage, stageNames } from './read-stage.ts';
import type { NodeRule, Outage, PodMatch, PodRule, Rules, Stages } from './rules.ts';

export const NO_RULES: Rules = { pods: [], nodes: [] };

/** Throws a RuleError with the path of the error. */
export function readRules(tree: unknown): Rules {
  if (tree === null || tree === undefined) return NO_RULES;
  return DocumentReader.read(tree, '', (file) => ({
    pods: file.list('pods', podRule),
    nodes: file.list('nodes', nodeRule),
  }));
}

const podRule = (rule: DocumentReader): PodRule => ({
  match: rule.child('match', podMatch) ?? {},
  stages: rule.child('stages', stagesOf) ?? {},
});

function podMatch(match: DocumentReader): PodMatch {
  const labels = match.string('labels');
  return {
    namespaces: match.strings('namespaces'),
    names: match.strings('names'),
    nodes: match.strings('nodes'),
    images: match.strings('images'),
    owner: match.string('owner'),
    restartPolicy: match.strings('restartPolicy'),
    readinessProbe: match.boolean('readinessProbe'),
    labels: labels === undefined ? undefined : selector(labels, match),
  };
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
  return found;
}

function nodeRule(rule: DocumentReader): NodeRule {
  const taints = rule.list('taints', taint);
  return {
    names: rule.strings('names'),
    labels: rule.map('labels'),
    annotations: rule.map('annotations'),
    capacity: rule.map('capacity'),
    taints: taints.length > 0 ? taints : undefined,
    down: rule.child('down', outage),
  };
}

function taint(reader: DocumentReader) {
  const value = reader.string('value');
  return {
    key: reader.required('key', reader.string('key')),
    ...(value === undefined ? {} : { value }),
    effect: reader.required('effect', reader.string('effect')),
  };
}

const outage = (reader: DocumentReader): Outage => ({
  after: reader.required('after', reader.duration('after')),
  for: reader.duration('for'),
});
