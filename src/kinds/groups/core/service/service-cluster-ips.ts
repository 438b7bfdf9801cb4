/** The cluster IPs of a Service: whether it has any, and the validation of requested ones. */
import { duplicate, type FieldError, invalid, notSupported, required } from '../../../../schema/field-error.ts';
import { ipFamily, ipProblems } from '../../../shapes/meta/addresses/ip-address.ts';
import { ipFamilies, ipFamilyPolicies } from './service-field-rules.ts';
import type { ServiceSpec } from './service-fields.ts';

/** The clusterIP of a headless service, whose clients find the pods by DNS. */
export const HEADLESS = 'None';

export function isHeadless(spec: ServiceSpec): boolean {
  const addresses = spec.clusterIPs ?? (spec.clusterIP ? [spec.clusterIP] : []);
  return addresses.length === 1 && addresses[0] === HEADLESS;
}

/** A service of type ExternalName has no addresses. */
export function hasAddresses(spec: ServiceSpec): boolean {
  return spec.type !== 'ExternalName';
}

/** Errors of unknown IP families and policies, which the schema does not check; for use before validation. */
export function unknownIpFamilies({ ipFamilies: families = [], ipFamilyPolicy: policy }: ServiceSpec): FieldError[] {
  const errors = families.flatMap((family, index) =>
    ipFamilies.includes(family) ? [] : [notSupported(`spec.ipFamilies[${index}]`, family, ipFamilies)],
  );
  if (policy && !ipFamilyPolicies.includes(policy)) {
    errors.push(notSupported('spec.ipFamilyPolicy', policy, ipFamilyPolicies));
  }
  return errors;
}

/** Unchanged addresses are not checked again: an older release may have accepted them. */
export function clusterIpErrors(spec: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  if (!hasAddresses(spec)) return [];
  const { clusterIPs: addresses = [], ipFamilies: families = [] } = spec;
  const errors = formsAgree(spec);
  const seen = new Set<string>();
  families.forEach((family, index) => {
    if (seen.has(family)) errors.push(duplicate(`spec.ipFamilies[${index}]`, family));
    seen.add(family);
  });
  const known = new Set(old?.clusterIPs);
  const malformed = addresses.flatMap((ip, index) => {
    if (ip === HEADLESS && index === 0) {
      return addresses.length > 1 ? [wrong(spec, "'None' must be the first and only value")] : [];
    }
    const problems = known.has(ip) ? [] : ipProblems(ip);
    return problems.map((problem) => invalid(`spec.clusterIPs[${index}]`, ip, problem));
  });
  for (const each of malformed) errors.push(each);
  if (addresses.length > 2) errors.push(wrong(spec, 'may only hold up to 2 values'));
  // Further checks make no sense for malformed addresses.
  if (malformed.length > 0) return errors;
  if (addresses.length > 1 && new Set(addresses.map(ipFamily)).size < 2) {
    errors.push(wrong(spec, 'may specify no more than one IP for each IP family'));
  }
  return isHeadless(spec) ? errors : [...errors, ...ofTheirFamilies(addresses, families)];
}

const wrong = (spec: ServiceSpec, detail: string) => invalid('spec.clusterIPs', spec.clusterIPs, detail);

function formsAgree(spec: ServiceSpec): FieldError[] {
  const [first] = spec.clusterIPs ?? [];
  if (!spec.clusterIP)
    return first === undefined ? [] : [wrong(spec, 'must be empty when `clusterIP` is not specified')];
  if (first === undefined) return [required('spec.clusterIPs')];
  return first === spec.clusterIP ? [] : [wrong(spec, 'first value must match `clusterIP`')];
}

function ofTheirFamilies(addresses: readonly string[], families: readonly string[]): FieldError[] {
  return families.slice(0, addresses.length).flatMap((family, index) => {
    const ip = addresses[index]!;
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    return ipFamily(ip) === family ? [] : [invalid(`spec.clusterIPs[${index}]`, ip, detail)];
  });
}
