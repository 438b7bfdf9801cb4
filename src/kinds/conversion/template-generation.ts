/**
 * The number of changes of a DaemonSet's template: `spec.templateGeneration` in extensions/v1beta1, an annotation in the
 * newer versions, which have no such field.
 */
import type { KubeObject } from '../kind.ts';
import { wholeNumber, withNumberAnnotation } from './number-annotation.ts';

export const TEMPLATE_GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
}

interface DaemonSet extends KubeObject {
  spec: { templateGeneration?: number };
}

export function templateGenerationToAnnotation(daemonSet: DaemonSet): DaemonSet {
  const { templateGeneration, ...spec } = daemonSet.spec;
  if (templateGeneration !== undefined) {
    return withNumberAnnotation({ ...daemonSet, spec }, TEMPLATE_GENERATION_ANNOTATION, templateGeneration);
  }
  // In this version only the field counts. An annotation that was never shown as the field stays.
  if (!templateGenerationOf(daemonSet)) return daemonSet;
  return withNumberAnnotation(daemonSet, TEMPLATE_GENERATION_ANNOTATION, undefined);
}

export function templateGenerationToField(daemonSet: DaemonSet): DaemonSet {
  const templateGeneration = templateGenerationOf(daemonSet);
  // Zero is not a generation, and the field omits it.
  if (!templateGeneration) return daemonSet;
  const spec = { ...daemonSet.spec, templateGeneration };
  return withNumberAnnotation({ ...daemonSet, spec }, TEMPLATE_GENERATION_ANNOTATION, undefined);
}

/** The number in the annotation of the stored version. */
export function templateGenerationOf(daemonSet: Annotated): number | undefined {
  return wholeNumber(daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION]);
}
