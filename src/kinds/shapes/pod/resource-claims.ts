/** Resource claims of a pod, and how its containers refer to them. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notFound, required } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import type { ResourceClaim } from '../container/resources.ts';

const claim = {
  name: s.string({
    required: true,
    description: 'Name by which containers refer to the claim. A DNS label, unique within the pod.',
    rules: [matches(dnsLabel)],
  }),
  resourceClaimName: s.string({
    description: 'Existing ResourceClaim in the namespace of the pod. Set either this or resourceClaimTemplateName.',
    rules: [matches(dnsSubdomain)],
  }),
  resourceClaimTemplateName: s.string({
    description:
      'ResourceClaimTemplate in the namespace of the pod. The claim made from it is deleted together with the ' +
      'pod.',
    rules: [matches(dnsSubdomain)],
  }),
};
type PodResourceClaim = ObjectType<typeof claim>;

export const PodResourceClaims = s.listMap(
  s.object('PodResourceClaim', claim, {
    description:
      'A resource claim of the pod: either an existing ResourceClaim, or one that is created for the pod from ' +
      'a template.',
    rules: [oneSource],
  }),
  {
    keys: ['name'],
    retainKeys: true,
    description:
      'Resource claims that must be allocated and reserved before the pod can start. Containers refer to them ' +
      'in resources.claims. Cannot be changed.',
    rules: [unique('name')],
  },
);

function oneSource(value: PodResourceClaim): FieldError | undefined {
  const { resourceClaimName: name, resourceClaimTemplateName: template } = value;
  if (name !== undefined && template !== undefined) {
    const detail = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
    return invalid('', value, detail);
  }
  if (name !== undefined || template !== undefined) return undefined;
  return invalid('', value, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`');
}

/** Errors of a container's references to the claims of its pod. */
export function claimsOfContainer(
  claims: readonly ResourceClaim[] | undefined,
  podClaims: readonly PodResourceClaim[] = [],
): FieldError[] {
  const seen = new Set<string>();
  return (claims ?? []).flatMap(({ name, request }, index) => {
    const at = `[${index}]`;
    if (!name) return [required(at)];
    const found: FieldError[] = [];
    const key = request ? `${name}/${request}` : name;
    for (const complaint of request ? dnsLabel(request) : []) found.push(invalid(`${at}.request`, request, complaint));
    if (seen.has(name)) found.push(duplicate(at, name));
    else if (seen.has(key)) found.push(duplicate(at, key));
    else if (!request && [...seen].some((other) => other.startsWith(`${name}/`))) found.push(duplicate(at, name));
    seen.add(key);
    if (!podClaims.some((other) => other.name === name)) found.push(unknownClaim(at, name, podClaims));
    return found;
  });
}

function unknownClaim(at: string, name: string, podClaims: readonly PodResourceClaim[]): FieldError {
  const missing = notFound(at, name);
  const names = podClaims.map((each) => each.name).sort();
  const known = names.length ? `: ${names.join(', ')}` : ' which is empty';
  return { ...missing, message: `${missing.message}: must be one of the names in pod.spec.resourceClaims${known}` };
}
