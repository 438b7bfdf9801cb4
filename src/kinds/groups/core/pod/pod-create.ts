/** Rules for whole pods, and for their creation. */
import { addAll } from '../../../../base/collections/add-all.ts';
import { type FieldError, forbidden, invalid, required, under } from '../../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../../schema/names.ts';
import { visitContainers } from '../../../shapes/container/container-rules.ts';
import { annotatedProfiles, MIRROR, podAnnotations } from '../../../shapes/pod/pod-annotations.ts';
import type { Pod } from './pod-fields.ts';

/**
 * Checks rules that do not apply to templates, because they depend on the pod's service account or on the names of its
 * claims. If the spec is known to be valid (`checked`), only rules that depend on the rest of the pod are checked.
 */
export function podObjectRules({ metadata, spec }: Pod, checked?: object): FieldError[] {
  const found = under('metadata.annotations', podAnnotations(metadata.annotations, spec));
  if (spec !== checked) addAll(found, images(spec));
  if (spec !== checked || spec.volumes?.some(isCalledAfterPod)) addAll(found, volumes(metadata.name ?? '', spec));
  if (spec.resourceClaims && metadata.annotations?.[MIRROR] !== undefined) {
    found.push(forbidden('', 'static pods do not support resource claims'));
  }
  return found;
}

function images(spec: Pod['spec']): FieldError[] {
  const found: FieldError[] = [];
  visitContainers(spec, ({ image }, path) => {
    if (!image || image.trim() === image) return;
    found.push(invalid(`spec.${path}.image`, image, 'must not have leading or trailing whitespace'));
  });
  return found;
}

/** Reports whether the claim of a volume is created for the pod. */
function isCalledAfterPod({ ephemeral }: NonNullable<Pod['spec']['volumes']>[number]): boolean {
  return ephemeral !== undefined;
}

function volumes(podName: string, { volumes: list = [], serviceAccountName }: Pod['spec']): FieldError[] {
  const made = new Set(list.flatMap(({ name, ephemeral }) => (ephemeral ? [`${podName}-${name}`] : [])));
  return list.flatMap(({ name, projected, image, ephemeral, persistentVolumeClaim }, index) => {
    const at = `spec.volumes[${index}]`;
    const found: FieldError[] = [];
    if (!serviceAccountName) {
      projected?.sources?.forEach(({ serviceAccountToken }, place) => {
        if (!serviceAccountToken) return;
        const field = `${at}.projected.sources[${place}].serviceAccountToken`;
        found.push(forbidden(field, 'must not be specified when serviceAccountName is not set'));
      });
    }
    if (image && !image.reference) found.push(required(`${at}.image.reference`));
    if (ephemeral && podName && name) {
      const claim = `${podName}-${name}`;
      for (const complaint of dnsSubdomain(claim)) {
        found.push(invalid(`${at}.name`, name, `PVC name ${JSON.stringify(claim)}: ${complaint}`));
      }
    }
    const claimed = persistentVolumeClaim?.claimName;
    if (claimed && made.has(claimed)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume';
      found.push(invalid(`${at}.persistentVolumeClaim.claimName`, claimed, detail));
    }
    return found;
  });
}

export function podCreateRules({ metadata, spec }: Pod): FieldError[] {
  const found: FieldError[] = [];
  if (spec.ephemeralContainers) found.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  if (spec.nodeName && spec.schedulingGates) {
    found.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  addAll(found, under('spec', annotatedProfiles(metadata.annotations, spec)));
  return found;
}
