import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import type { RuleWithOperations } from '../../../kinds/groups/extension/admissionregistration/rule.ts';
import type { Version } from '../../../kinds/kind.ts';
import type { LabelSelector } from '../../../kinds/shapes/meta/label-selector.ts';
import { fromLabelSelector } from '../../../schema/selector/selector.ts';
import type { AdmissionRequest } from '../../objects/admission/request.ts';
import type { Reader } from '../../objects/ports.ts';
import { objectNamed } from '../../objects/reads/lookup.ts';

type Ports = Pick<Reader, 'cache'>;

type NamedRule = RuleWithOperations & { readonly resourceNames?: readonly string[] };

export interface RequestCriteria {
  readonly rules: readonly NamedRule[];
  /** Rules for requests that never match, even if `rules` includes them. */
  readonly excluded?: readonly NamedRule[];
  /** True when every request matches if there are no rules; otherwise none does. */
  readonly matchesWithoutRules?: boolean;
  readonly matchPolicy: string;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/** Criteria that are compared with many requests. The rules that apply are found once per resource and operation. */
export class RequestMatcher {
  readonly #namespaces: ReturnType<typeof fromLabelSelector>;
  readonly #objects: ReturnType<typeof fromLabelSelector>;
  readonly #namesObjects: boolean;
  readonly #known = new WeakMap<Version, Map<string, Version | undefined>>();

  constructor(private readonly criteria: RequestCriteria) {
    this.#namespaces = fromLabelSelector(criteria.namespaceSelector);
    this.#objects = fromLabelSelector(criteria.objectSelector);
    this.#namesObjects = [...criteria.rules, ...(criteria.excluded ?? [])].some((rule) => rule.resourceNames?.length);
  }

  /** Returns the version in which the request is shown; undefined when it does not match. */
  versionFor(core: Ports, request: AdmissionRequest): Version | undefined {
    const version = this.#namesObjects ? ruledVersion(request, this.criteria) : this.#knownVersion(request);
    if (!version || !this.#matchesNamespace(core, request)) return undefined;
    return this.#matchesObject(request) ? version : undefined;
  }

  #knownVersion(request: AdmissionRequest): Version | undefined {
    const { version } = request.resource;
    const known = getOrInsert(this.#known, version, () => new Map());
    const key = `${request.operation}/${request.subresource ?? ''}/${isNamespaced(request)}`;
    const found = known.get(key);
    if (found || known.has(key)) return found;
    const ruled = ruledVersion(request, this.criteria);
    known.set(key, ruled);
    return ruled;
  }

  #matchesNamespace(core: Ports, { kind, namespace, object, old }: AdmissionRequest): boolean {
    if (this.#namespaces.empty) return true;
    if (kind === Namespace) return this.#namespaces.matches((object ?? old)?.metadata.labels ?? {});
    if (!namespace) return true;
    return this.#namespaces.matches(objectNamed(core, Namespace, '', namespace)?.metadata.labels ?? {});
  }

  #matchesObject({ object, old }: AdmissionRequest): boolean {
    if (this.#objects.empty) return true;
    return [object, old].some((each) => each?.metadata && this.#objects.matches(each.metadata.labels ?? {}));
  }
}

function ruledVersion(request: AdmissionRequest, criteria: RequestCriteria): Version | undefined {
  const { rules, excluded = [], matchPolicy, matchesWithoutRules = false } = criteria;
  if (excluded.length > 0 && versionOfRules(request, excluded, matchPolicy)) return undefined;
  if (rules.length === 0) return matchesWithoutRules ? request.resource.version : undefined;
  return versionOfRules(request, rules, matchPolicy);
}

function versionOfRules(
  request: AdmissionRequest,
  rules: readonly NamedRule[],
  matchPolicy: string,
): Version | undefined {
  const { version, kind } = request.resource;
  if (rules.some((rule) => ruleMatches(rule, request, version))) return version;
  // A separate body, such as an Eviction, has no other version.
  if (matchPolicy !== 'Equivalent' || request.body) return undefined;
  for (const rule of rules) {
    const equivalent = kind.versions.find((other) => other !== version && ruleMatches(rule, request, other));
    if (equivalent) return equivalent;
  }
  return undefined;
}

const includes = (items: readonly string[] | undefined, word: string) =>
  items?.some((item) => item === '*' || item === word) ?? false;

function ruleMatches(rule: NamedRule, request: AdmissionRequest, { group, version }: Version): boolean {
  return (
    includes(rule.operations, request.operation) &&
    includes(rule.apiGroups, group) &&
    includes(rule.apiVersions, version) &&
    (rule.scope === '*' || (rule.scope === 'Namespaced') === isNamespaced(request)) &&
    resourceMatches(rule, request) &&
    nameMatches(rule, request)
  );
}

/** Reports whether the request is in a namespace. A Namespace is not, though selectors apply to its own labels. */
function isNamespaced({ kind, namespace }: AdmissionRequest): boolean {
  return kind !== Namespace && namespace !== '';
}

function resourceMatches({ resources = [] }: NamedRule, { kind, subresource }: AdmissionRequest): boolean {
  return resources.some((text) => {
    const [resource, wanted = ''] = text.split('/', 2);
    return (resource === '*' || resource === kind.plural) && (wanted === '*' || wanted === (subresource ?? ''));
  });
}

function nameMatches({ resourceNames = [] }: NamedRule, { name }: AdmissionRequest): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name);
}
