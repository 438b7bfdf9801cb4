/** The spec of a pod: in a Pod, and in every template that creates pods. */
import { s } from '../../../schema/builders.ts';
import type { RuleContext } from '../../../schema/schema.ts';
import { containerRules } from '../container/container-rules.ts';
import { podRules } from './pod-rules.ts';
import { type PodSpecFields, podSpecFields } from './pod-spec-fields.ts';

export type PodSpec = PodSpecFields;

/** Spec of a pod. Its rules do not run on a status update, which does not change the spec. */
export const PodSpec = s.object(
  'PodSpec',
  'Containers, volumes, placement and security settings of a pod.',
  podSpecFields,
  {
    rules: [
      (spec: PodSpec, { subresource }: RuleContext) =>
        subresource === 'status' ? [] : [...containerRules(spec), ...podRules(spec)],
    ],
  },
);
