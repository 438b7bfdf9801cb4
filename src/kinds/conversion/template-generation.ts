/**
 * How often a DaemonSet's template has changed: `spec.templateGeneration` in extensions/v1beta1, an annotation in the
 * newer versions, which have no such field.
 */
import { wholeNumber, withNumberAnnotation } from './number-annotation.ts';

export const TEMPLATE_GENERATION_ANNOTATION = 'deprecated.daemonset.template.generation';

export function templateGenerationToAnnotation(daemonSet: any): any {
  const { templateGeneration, ...spec } = daemonSet.spec;
  if (templateGeneration !== undefined) {
    return withNumberAnnotation({ ...daemonSet, spec }, TEMPLATE_GENERATION_ANNOTATION, templateGeneration);
  }
  // Only the field speaks in this version. A text that was never shown as the field stays.
  if (!templateGenerationOf(daemonSet)) return daemonSet;
  return withNumberAnnotation(daemonSet, TEMPLATE_GENERATION_ANNOTATION, undefined);
}

export function templateGenerationToField(daemonSet: any): any {
  const templateGeneration = templateGenerationOf(daemonSet);
  // Zero is no generation: the field leaves it out.
  if (!templateGeneration) return daemonSet;
  const spec = { ...daemonSet.spec, templateGeneration };
  return withNumberAnnotation({ ...daemonSet, spec }, TEMPLATE_GENERATION_ANNOTATION, undefined);
}

/** In the stored version. */
export function templateGenerationOf(daemonSet: any): number | undefined {
  return wholeNumber(daemonSet.metadata.annotations?.[TEMPLATE_GENERATION_ANNOTATION]);
}
