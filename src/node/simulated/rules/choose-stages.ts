/** Chooses the stages of a pod. For each stage, annotations come first, then the rule file, then defaults. */
import type { SeenPod } from '../../pod/container-run.ts';
import { RuleError } from './document-reader.ts';
import { matchesAny } from './pattern.ts';
import { readStage, stageNames } from './read-stage.ts';
import { DEFAULT_RULES, DEFAULT_STAGES, type PodMatch, type PodRule, type Stages } from './rules.ts';

/** Prefix of annotations that control simulated pods and nodes: `simulated.kubernetes.io/ready: 5s`. */
export const ANNOTATION_PREFIX = 'simulated.kubernetes.io/';

export interface Choice {
  readonly stages: Stages;
  /** Errors in annotations, which are ignored. */
  readonly errors: readonly string[];
}

export function chooseStages(pod: SeenPod, rules: readonly PodRule[]): Choice {
  const errors: string[] = [];
  const layers = [
    annotatedStages(pod, errors),
    ...rules.filter(({ match }) => matches(pod, match)).map(({ stages }) => stages),
    ...DEFAULT_RULES.filter(({ match }) => matches(pod, match)).map(({ stages }) => stages),
    DEFAULT_STAGES,
  ];
  if (layers.length === 2 && Object.keys(layers[0]!).length === 0) return { stages: DEFAULT_STAGES, errors };
  const chosen = Object.fromEntries(
    stageNames.map((name) => [name, layers.find((layer) => Object.hasOwn(layer, name))?.[name]]),
  );
  return { stages: chosen as unknown as Stages, errors };
}

function annotatedStages({ metadata }: SeenPod, errors: string[]): Partial<Stages> {
  const { annotations } = metadata;
  if (!annotations) return {};
  const found: Record<string, unknown> = {};
  for (const name of stageNames) {
    const text = annotations[ANNOTATION_PREFIX + name];
    if (text === undefined) continue;
    try {
      found[name] = readStage(name, parseAnnotation(text), `annotation ${ANNOTATION_PREFIX}${name}`);
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      errors.push(error.message);
    }
  }
  return found;
}

/** Reports whether annotations about stages differ. */
export function haveStagesChanged(before: SeenPod, now: SeenPod): boolean {
  const [old, current] = [before.metadata.annotations, now.metadata.annotations];
  if (old === current) return false;
  return stageNames.some((name) => old?.[ANNOTATION_PREFIX + name] !== current?.[ANNOTATION_PREFIX + name]);
}

/** A map is written as JSON. */
function parseAnnotation(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return text.trim();
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RuleError(`${text} is not valid JSON`, { cause });
  }
}

function matches({ metadata, spec }: SeenPod, match: PodMatch): boolean {
  const { namespaces, labels, names, nodes, images, owner, restartPolicy, readinessProbe } = match;
  const containers = spec.containers;
  return (
    (!namespaces || matchesAny(namespaces, metadata.namespace ?? '')) &&
    (!names || matchesAny(names, metadata.name ?? '')) &&
    (!nodes || matchesAny(nodes, spec.nodeName ?? '')) &&
    (!labels || labels.matches(metadata.labels)) &&
    (owner === undefined || metadata.ownerReferences?.find(({ controller }) => controller)?.kind === owner) &&
    (!restartPolicy || restartPolicy.includes(spec.restartPolicy)) &&
    (!images || containers.some(({ image = '' }) => matchesAny(images, image))) &&
    (readinessProbe === undefined || containers.some((each) => each.readinessProbe) === readinessProbe)
  );
}
