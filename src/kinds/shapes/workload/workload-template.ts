/** The pod template of a controller whose pods run indefinitely. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, notSupported } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';
import { ObjectMeta } from '../meta/object-meta.ts';
import { PodTemplateSpec } from '../pod/pod-template.ts';

/**
 * A pod template with the restart policy Always and without a deadline. `metadataRules` check the labels, before the rules
 * for pods.
 */
export function workloadTemplate(
  controller: string,
  metadataRules: readonly Rule<ObjectMeta>[],
): typeof PodTemplateSpec {
  const { fields, rules = [] } = PodTemplateSpec;
  const metadata = s.use(fields.metadata ?? ObjectMeta, { default: {}, rules: metadataRules });
  const own = { fields: { ...fields, metadata }, rules: [...rules, runsForever(controller)] };
  return Object.freeze({ ...PodTemplateSpec, ...own }) as typeof PodTemplateSpec;
}

function runsForever(controller: string): Rule<PodTemplateSpec> {
  return ({ spec }) => {
    const found: FieldError[] = [];
    if (spec.restartPolicy !== 'Always') {
      found.push(notSupported('spec.restartPolicy', spec.restartPolicy, ['Always']));
    }
    if (spec.activeDeadlineSeconds !== undefined) {
      const words = `activeDeadlineSeconds in ${controller} is not Supported`;
      found.push(forbidden('spec.activeDeadlineSeconds', words));
    }
    return found;
  };
}
