/** Which requests a webhook is asked about. */

import type { RuleWithOperations } from '../../../kinds/groups/admissionregistration/rule.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import type { Version } from '../../../kinds/kind.ts';
import type { LabelSelector } from '../../../kinds/shapes/meta/label-selector.ts';
import { selectorMatches } from '../../../kinds/shapes/meta/label-selector.ts';
import type { Core } from '../../core.ts';
import { objectNamed } from '../lookup.ts';
import type { AdmissionRequest } from '../request.ts';

export interface Matching {
  readonly rules?: readonly RuleWithOperations[];
  readonly matchPolicy: string;
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
}

/** The version in which a webhook wants to see a request; undefined when it does not want to. */
export function matchedVersion(core: Core, request: AdmissionRequest, webhook: Matching): Version | undefined {
  const version = ruledVersion(request, webhook);
  if (!version || !matchesNamespace(core, request, webhook.namespaceSelector)) return undefined;
  return matchesObject(request, webhook.objectSelector) ? version : undefined;
}

function ruledVersion(request: AdmissionRequest, { rules = [], matchPolicy }: Matching): Version | undefined {
  const { version, kind } = request.resource;
  if (rules.some((rule) => ruleMatches(rule, request, version))) return version;
  // A body of its own, such as an Eviction, has no other version.
  if (matchPolicy !== 'Equivalent' || request.body) return undefined;
  for (const rule of rules) {
    const equivalent = kind.versions.find((other) => other !== version && ruleMatches(rule, request, other));
    if (equivalent) return equivalent;
  }
  return undefined;
}

const includes = (items: readonly string[] | undefined, word: string) =>
  items?.some((item) => item === '*' || item === word) ?? false;

function ruleMatches(rule: RuleWithOperations, request: AdmissionRequest, { group, version }: Version): boolean {
  return (
    includes(rule.operations, request.operation) &&
    includes(rule.apiGroups, group) &&
    includes(rule.apiVersions, version) &&
    scopeMatches(rule, request) &&
    resourceMatches(rule, request)
  );
}

/** A Namespace has no namespace, although its own labels count as those of one. */
function scopeMatches({ scope }: RuleWithOperations, { kind, namespace }: AdmissionRequest): boolean {
  const isNamespaced = kind !== Namespace && namespace !== '';
  return scope === '*' || (scope === 'Namespaced') === isNamespaced;
}

function resourceMatches({ resources = [] }: RuleWithOperations, { kind, subresource }: AdmissionRequest) {
  return resources.some((text) => {
    const [resource, wanted = ''] = text.split('/', 2);
    return (resource === '*' || resource === kind.plural) && (wanted === '*' || wanted === (subresource ?? ''));
  });
}

const selectsAll = ({ matchLabels, matchExpressions }: LabelSelector) =>
  (!matchExpressions || matchExpressions.length === 0) && (!matchLabels || Object.keys(matchLabels).length === 0);

function matchesNamespace(core: Core, request: AdmissionRequest, selector: LabelSelector): boolean {
  if (selectsAll(selector)) return true;
  const { kind, namespace, object, old } = request;
  if (kind === Namespace) return selectorMatches(selector, (object ?? old)?.metadata.labels ?? {});
  if (!namespace) return true;
  return selectorMatches(selector, objectNamed(core, Namespace, '', namespace)?.metadata.labels ?? {});
}

function matchesObject({ object, old }: AdmissionRequest, selector: LabelSelector): boolean {
  if (selectsAll(selector)) return true;
  return [object, old].some((each) => each?.metadata && selectorMatches(selector, each.metadata.labels ?? {}));
}
