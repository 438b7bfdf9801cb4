/** Which stages a pod goes through: of each, the first that says something wins: annotations, the rule file, defaults. */
import type { SeenPod } from '../../pod/container-run.ts';
import { fitsAny } from './pattern.ts';
import { readStage, stageNames } from './read-stage.ts';
import { RuleError } from './reader.ts';
import { DEFAULT_RULES, DEFAULT_STAGES, type PodMatch, type PodRule, type Stages } from './rules.ts';

/** Annotations on pods and nodes that say how they behave: `simulated.kubernetes.io/ready: 5s`. */
export const ANNOTATION_PREFIX = 'simulated.kubernetes.io/';

export interface Choice {
  readonly stages: Stages;
  /** What is wrong with its annotations; those count as absent. */
  readonly faults: readonly string[];
}

export function chooseStages(pod: SeenPod, rules: readonly PodRule[]): Choice {
  const faults: string[] = [];
  const layers = [
    annotated(pod, faults),
    ...rules.filter(({ match }) => fits(pod, match)).map(({ stages }) => stages),
    ...DEFAULT_RULES.filter(({ match }) => fits(pod, match)).map(({ stages }) => stages),
    DEFAULT_STAGES,
  ];
  if (layers.length === 2 && Object.keys(layers[0]!).length === 0) return { stages: DEFAULT_STAGES, faults };
  const chosen = Object.fromEntries(
    stageNames.map((name) => [name, layers.find((layer) => Object.hasOwn(layer, name))?.[name]]),
  );
  return { stages: chosen as unknown as Stages, faults };
}

function annotated({ metadata }: SeenPod, faults: string[]): Partial<Stages> {
  const { annotations } = metadata;
  if (!annotations) return {};
  const found: Record<string, unknown> = {};
  for (const name of stageNames) {
    const text = annotations[ANNOTATION_PREFIX + name];
    if (text === undefined) continue;
    try {
      found[name] = readStage(name, treeOf(text), `annotation ${ANNOTATION_PREFIX}${name}`);
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      faults.push(error.message);
    }
  }
  return found;
}

/** Whether annotations say something else than before. */
export function saysOtherwise(before: SeenPod, now: SeenPod): boolean {
  const [old, current] = [before.metadata.annotations, now.metadata.annotations];
  if (old === current) return false;
  return stageNames.some((name) => old?.[ANNOTATION_PREFIX + name] !== current?.[ANNOTATION_PREFIX + name]);
}

/** A map stands in an annotation as JSON. */
function treeOf(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return text.trim();
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RuleError(`${text} is no JSON`, { cause });
  }
}

function fits({ metadata, spec }: SeenPod, match: PodMatch): boolean {
  const { namespaces, labels, names, nodes, images, owner, restartPolicy, readinessProbe } = match;
  const containers = spec.containers;
  return (
    (!namespaces || fitsAny(namespaces, metadata.namespace ?? '')) &&
    (!names || fitsAny(names, metadata.name ?? '')) &&
    (!nodes || fitsAny(nodes, spec.nodeName ?? '')) &&
    (!labels || labels.matches(metadata.labels)) &&
    (owner === undefined || metadata.ownerReferences?.find(({ controller }) => controller)?.kind === owner) &&
    (!restartPolicy || restartPolicy.includes(spec.restartPolicy)) &&
    (!images || containers.some(({ image = '' }) => fitsAny(images, image))) &&
    (readinessProbe === undefined || containers.some((each) => each.readinessProbe) === readinessProbe)
  );
}
