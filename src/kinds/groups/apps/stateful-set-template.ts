/** The pod template and the volume claim templates of a StatefulSet. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import { dnsLabel } from '../../../schema/names.ts';
import type { ObjectSchema, Rule, RuleContext } from '../../../schema/schema.ts';
import { ObjectMeta } from '../../shapes/meta/object-meta.ts';
import { PodSpec } from '../../shapes/pod/pod-spec.ts';
import { claimSpec } from '../../shapes/volume/claim-rules.ts';
import { templateMatchesSelector } from '../../shapes/workload/workload-selector.ts';
import { workloadTemplate } from '../../shapes/workload/workload-template.ts';
import { PersistentVolumeClaim } from '../core/persistent-volume/persistent-volume-claim.ts';

const VolumeClaimTemplate = s.object(
  'PersistentVolumeClaim',
  'Template of a PersistentVolumeClaim that is created once for each pod.',
  {
    kind: s.string('Kind of the template: PersistentVolumeClaim. Filled in by the server.', {
      derive: () => 'PersistentVolumeClaim',
    }),
    apiVersion: s.string('API version of the template: v1. Filled in by the server.', { derive: () => 'v1' }),
    metadata: s.use(
      ObjectMeta,
      'Name, labels and annotations of the claims. The name is the one that containers mount the volume by.',
      { default: {} },
    ),
    ...PersistentVolumeClaim.fields,
  },
) as unknown as ObjectSchema<PersistentVolumeClaim>;

export const VolumeClaimTemplates = s.list(
  VolumeClaimTemplate,
  "PersistentVolumeClaims to create for every pod; a claim is named `<template>-<pod>` and keeps its data when the pod is replaced. Containers mount a claim by the template's name, which takes precedence over a volume of the same name. Cannot be changed after creation.",
  { rules: [claimTemplatesAreValid] },
);

/** Schema of host name and subdomain, which a StatefulSet sets in each pod, whatever the template says. */
const overwritten = s.string('Ignored: a StatefulSet sets the host name and the subdomain of its pods itself.', {
  omitZero: true,
});

const StatefulPodSpec = Object.freeze({
  ...PodSpec,
  default: {},
  fields: { ...PodSpec.fields, hostname: overwritten, subdomain: overwritten },
  rules: [claimNamesAreVolumeNames, ...(PodSpec.rules ?? []).map(withClaims)],
}) as unknown as typeof PodSpec;

const template = workloadTemplate('StatefulSet', [templateMatchesSelector]);

export const StatefulPodTemplate = Object.freeze({
  ...template,
  fields: {
    ...template.fields,
    spec: s.use(
      StatefulPodSpec,
      'Specification of the pods. Every container may mount the volumes that volumeClaimTemplates claim.',
      { default: {} },
    ),
  },
}) as unknown as typeof template;

type Claims = readonly PersistentVolumeClaim[];

/** Checked on create only, because the templates are immutable. */
function claimTemplatesAreValid(claims: Claims, { operation }: RuleContext): FieldError[] {
  if (operation === 'update') return [];
  return claims.flatMap(({ spec }, index) => under(`[${index}].spec`, claimSpec(spec)));
}

/** The part of a StatefulSet that names its claims. */
interface WithClaims {
  readonly spec: { readonly volumeClaimTemplates?: Claims };
}

const claimsIn = (root: WithClaims): Claims => root.spec.volumeClaimTemplates ?? [];

/** Applies a rule to the spec that pods will have: claims are volumes, and replace volumes of the same name. */
function withClaims(rule: Rule<PodSpec>): Rule<PodSpec, WithClaims> {
  return (spec, context) => {
    const claims = claimsIn(context.root);
    if (claims.length === 0) return rule(spec, context);
    const claimed = claims.map(({ metadata: { name = '' } }) => ({ name, persistentVolumeClaim: { claimName: name } }));
    const names = new Set(claimed.map(({ name }) => name));
    const others = (spec.volumes ?? []).filter(({ name }) => !names.has(name));
    return rule({ ...spec, volumes: [...claimed, ...others] }, context);
  };
}

/** The name of a claim template becomes the name of a volume. */
function claimNamesAreVolumeNames(
  _spec: PodSpec,
  { root, subresource }: RuleContext<PodSpec, WithClaims>,
): FieldError[] {
  if (subresource === 'status') return [];
  return claimsIn(root).flatMap(({ metadata: { name = '' } }, index) => {
    const volume = `volumes[${index}]`;
    if (!name) return [required(`${volume}.name`), required(`${volume}.persistentVolumeClaim.claimName`)];
    return dnsLabel(name).map((complaint) => invalid(`${volume}.name`, name, complaint));
  });
}
