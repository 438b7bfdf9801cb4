/** Resource claims of a pod, and how its containers refer to them. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid, notFound, required } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import type { ResourceClaim } from '../container/resources.ts';

const claim = {
  name: s.string('Name by which containers refer to the claim. A DNS label, unique within the pod.', {
    required: true,
    rules: [matches(dnsLabel)],
  }),
  resourceClaimName: s.string(
    'Existing ResourceClaim in the namespace of the pod. Set either this or resourceClaimTemplateName.',
    { rules: [matches(dnsSubdomain)] },
  ),
  resourceClaimTemplateName: s.string(
    'ResourceClaimTemplate in the namespace of the pod. The claim made from it is deleted together with the ' + 'pod.',
    { rules: [matches(dnsSubdomain)] },
  ),
};
type PodResourceClaim = ObjectType<typeof claim>;

export const PodResourceClaims = s.listMap(
  s.object(
    'PodResourceClaim',
    'A resource claim of the pod: either an existing ResourceClaim, or one that is created for the pod from ' +
      'a template.',
    claim,
    { rules: [oneSource] },
  ),
  'Resource claims that must be allocated and reserved before the pod can start. Containers refer to them ' +
    'in resources.claims. Cannot be changed.',
  { keys: ['name'], retainKeys: true, rules: [unique('name')] },
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
  known: ReadonlySet<string>,
): FieldError[] {
  const seen = new Set<string>();
  /** Claims of which single requests were named. */
  const requested = new Set<string>();
  return (claims ?? []).flatMap(({ name, request }, index) => {
    const at = `[${index}]`;
    if (!name) return [required(at)];
    const found: FieldError[] = [];
    const key = request ? `${name}/${request}` : name;
    for (const complaint of request ? dnsLabel(request) : []) found.push(invalid(`${at}.request`, request, complaint));
    if (seen.has(name)) found.push(duplicate(at, name));
    else if (seen.has(key)) found.push(duplicate(at, key));
    else if (!request && requested.has(name)) found.push(duplicate(at, name));
    seen.add(key);
    if (request) requested.add(name);
    if (!known.has(name)) found.push(unknownClaim(at, name, known));
    return found;
  });
}

/** The names of a pod's claims, in order. */
export function claimNames(claims: readonly PodResourceClaim[] | undefined): ReadonlySet<string> {
  return claims ? new Set(claims.map(({ name }) => name).sort()) : NO_CLAIMS;
}

const NO_CLAIMS: ReadonlySet<string> = new Set();

/** Messages name no more claims than these. */
const MAX_NAMED_CLAIMS = 100;

function unknownClaim(at: string, name: string, known: ReadonlySet<string>): FieldError {
  const missing = notFound(at, name);
  const names: string[] = [];
  for (const each of known) if (names.push(each) >= MAX_NAMED_CLAIMS) break;
  const more = known.size > names.length ? ', ...' : '';
  const choice = names.length ? `: ${names.join(', ')}${more}` : ' which is empty';
  return { ...missing, message: `${missing.message}: must be one of the names in pod.spec.resourceClaims${choice}` };
}
