import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, under } from '../../../schema/field-error.ts';
import type { ObjectType, TypeOf } from '../../../schema/schema.ts';
import { defaultColumns } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { labels } from '../../shapes/meta/label-selector.ts';
import { ObjectMeta } from '../../shapes/meta/object-meta.ts';
import { annotations } from '../../shapes/meta/object-meta-rules.ts';
import { ResourceClaimSpec } from './device-claim.ts';
import { deviceClaimRules } from './device-claim-rules.ts';

const fields = {
  spec: s.object(
    'ResourceClaimTemplateSpec',
    'The claims to create. Cannot be changed.',
    {
      metadata: s.use(ObjectMeta, 'Labels and annotations of the claims. No other metadata is allowed.', {
        default: {},
      }),
      spec: s.use(ResourceClaimSpec, 'What the claims request.', { zero: true }),
    },
    { zero: true, immutable: true, rules: [templateRules] },
  ),
};

export type ResourceClaimTemplate = KubeObject & ObjectType<typeof fields>;

/** Template for ResourceClaims, one per pod. */
export const ResourceClaimTemplate = defineKind({
  kind: 'ResourceClaimTemplate',
  scope: 'Namespaced',
  description:
    'Template from which a ResourceClaim of its own is created for each pod that refers to it. The claims are deleted along with their pods.',
  versions: { 'resource.k8s.io/v1': {} },
  fields,
  columns: defaultColumns,
});

function templateRules({
  metadata,
  spec,
}: {
  metadata: ObjectMeta;
  spec: TypeOf<typeof ResourceClaimSpec>;
}): FieldError[] {
  const others = Object.keys(metadata).filter((field) => field !== 'labels' && field !== 'annotations');
  return [
    ...under('metadata.annotations', annotations(metadata.annotations ?? {})),
    ...under('metadata.labels', labels(metadata.labels ?? {})),
    ...others.map((field) => forbidden(`metadata.${field}`, 'cannot be set')),
    ...under('spec.devices', deviceClaimRules(spec.devices)),
  ];
}
