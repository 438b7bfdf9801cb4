/**
 * Warns about policies and webhooks with `matchPolicy: Exact` that clients can bypass: a resource that they name is
 * also served under another group or version, such as Deployments in `extensions/v1beta1`.
 */
import type { RuleWithOperations } from '../../../kinds/groups/extension/admissionregistration/rule.ts';
import type { Kind, Version } from '../../../kinds/kind.ts';
import type { AdmissionRequest } from '../../objects/admission/request.ts';

export interface MatchCriteria {
  /** The field of the criteria in the object, such as `webhooks[0]`. */
  readonly field: string;
  readonly matchPolicy?: string | undefined;
  readonly rules?: readonly RuleWithOperations[] | undefined;
}

/** Limit for the number of checked rules: a warning is not worth more time. */
const MAX_RULES = 500;
const MAX_NAMED = 3;

/** Warns a client that writes an object with such criteria. */
export function warnOfOtherVersions(
  kinds: Iterable<Kind>,
  criteria: readonly MatchCriteria[],
  request: Pick<AdmissionRequest, 'warn'>,
): void {
  const exact = criteria.filter(({ matchPolicy }) => matchPolicy === 'Exact');
  if (exact.length === 0 || exact.reduce((sum, { rules = [] }) => sum + rules.length, 0) > MAX_RULES) return;
  for (const { field, rules = [] } of exact) {
    const missed = [...kinds].flatMap((kind) => otherVersions(kind, rules));
    if (missed.length === 0) continue;
    const more = missed.length > MAX_NAMED ? ` and ${missed.length - MAX_NAMED} more` : '';
    const named = `${missed.slice(0, MAX_NAMED).join(', ')}${more}`;
    request.warn(`${field}.matchPolicy: Exact does not apply to requests for ${named}; Equivalent does`);
  }
}

/** Returns the served versions of a kind that no rule matches although some rule names another version. */
function otherVersions({ plural, versions }: Kind, rules: readonly RuleWithOperations[]): string[] {
  const own = rules.filter(({ resources = [] }) => resources.some((text) => text.split('/', 1)[0] === plural));
  if (own.length === 0) return [];
  const served = versions.filter((version) => version.served ?? true);
  const missed = served.filter((version) => !own.some((rule) => names(rule, version)));
  return missed.length === served.length ? [] : missed.map(({ apiVersion }) => `${plural} in ${apiVersion}`);
}

function names({ apiGroups = [], apiVersions = [] }: RuleWithOperations, { group, version }: Version): boolean {
  return includes(apiGroups, group) && includes(apiVersions, version);
}

const includes = (items: readonly string[], word: string) => items.some((item) => item === '*' || item === word);
