/** The permissions of a user, from its bindings. Created on first use, discarded when a role or binding changes. */

import type { ByteBudget } from '../../../../base/bytes/byte-budget.ts';
import { detached, textBytes } from '../../../../base/collections/bounded-map.ts';
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import type { PolicyRule } from '../../../../kinds/groups/access/rbac/policy-rule.ts';
import { type Attributes, type Decision, NO_OPINION, type ResourceAttributes } from '../authorizer.ts';
import type { Grant } from './bindings.ts';
import { allowsPath, allowsResource, allowsVerb } from './rule.ts';

/** Estimates for the memory of a cached decision, including its maps, and of a name in rules. */
const DECISION_BYTES = 800;
const NAME_BYTES = 100;

/** Returns the rules of a grant's role, or an error message if it has none. */
export type RulesOf = (grant: Grant) => readonly PolicyRule[] | string;

/** The rules of a binding, and the decision based on them. */
interface Source {
  readonly grant: Grant;
  readonly rules: readonly PolicyRule[];
  decision: Decision | undefined;
}

/** Decisions about a verb on a resource: for all objects, and for those named in rules. */
interface ResourceDecisions {
  readonly all: Decision | undefined;
  readonly byName: ReadonlyMap<string, Decision> | undefined;
}

const NONE: ResourceDecisions = Object.freeze({ all: undefined, byName: undefined });

/** The rules of one scope: the whole cluster, or one namespace. */
class Scope {
  readonly #sources: Source[] = [];
  /** Decisions by resource, subresource, group and verb: existing strings, so that a lookup allocates none. */
  readonly #byResource = new Map<string, Map<string, Map<string, Map<string, ResourceDecisions>>>>();
  readonly #byPath = new Map<string, Map<string, Decision | undefined>>();
  /** The budget for the decisions of all users. */
  readonly #budget: ByteBudget;
  readonly errors: string[] = [];

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  add(grant: Grant, rules: readonly PolicyRule[] | string): void {
    if (typeof rules === 'string') this.errors.push(rules);
    else if (rules.length > 0) this.#sources.push({ grant, rules, decision: undefined });
  }

  get rules(): readonly PolicyRule[] {
    return this.#sources.flatMap(({ rules }) => rules);
  }

  onResource(attributes: ResourceAttributes): Decision | undefined {
    const { resource, subresource, group, verb } = attributes;
    const known =
      this.#byResource.get(resource)?.get(subresource)?.get(group)?.get(verb) ?? this.#cacheDecisions(attributes);
    return known.all ?? known.byName?.get(attributes.name);
  }

  onPath(verb: string, path: string): Decision | undefined {
    const known = this.#byPath.get(path);
    if (known?.has(verb)) return known.get(verb);
    const found = this.#find((rule) => allowsVerb(rule, verb) && allowsPath(rule, path));
    if (this.#budget.admit(DECISION_BYTES + textBytes(path) + textBytes(verb))) {
      const byVerb = known ?? new Map<string, Decision | undefined>();
      this.#byPath.set(detached(path), byVerb.set(detached(verb), found));
    }
    return found;
  }

  #cacheDecisions(attributes: ResourceAttributes): ResourceDecisions {
    const known = this.#decide(attributes);
    const { resource, subresource, group, verb } = attributes;
    const keys = textBytes(resource) + textBytes(subresource) + textBytes(group) + textBytes(verb);
    const names = (known.byName?.size ?? 0) * NAME_BYTES;
    if (this.#budget.admit(DECISION_BYTES + keys + names)) {
      const bySubresource = getOrCreate(this.#byResource, detached(resource));
      const byGroup = getOrCreate(bySubresource, detached(subresource));
      getOrCreate(byGroup, detached(group)).set(detached(verb), known);
    }
    return known;
  }

  #decide(attributes: ResourceAttributes): ResourceDecisions {
    const fits = (rule: PolicyRule) => allowsVerb(rule, attributes.verb) && allowsResource(rule, attributes);
    const all = this.#find((rule) => !rule.resourceNames?.length && fits(rule));
    if (all) return { all, byName: undefined };
    let byName: Map<string, Decision> | undefined;
    for (const source of this.#sources) {
      for (const rule of source.rules) {
        if (!rule.resourceNames?.length || !fits(rule)) continue;
        byName ??= new Map();
        for (const name of rule.resourceNames) if (!byName.has(name)) byName.set(name, decisionOf(source));
      }
    }
    return byName ? { all: undefined, byName } : NONE;
  }

  #find(fits: (rule: PolicyRule) => boolean): Decision | undefined {
    const source = this.#sources.find(({ rules }) => rules.some(fits));
    return source && decisionOf(source);
  }
}

export class UserPermissions {
  readonly #cluster: Scope;
  /** Namespaces in which a RoleBinding names the user. */
  readonly #namespaces = new Map<string, Scope>();

  constructor(
    grants: readonly Grant[],
    rulesOf: RulesOf,
    private readonly budget: ByteBudget,
  ) {
    this.#cluster = new Scope(budget);
    for (const grant of grants) this.#scopeFor(grant.namespace).add(grant, rulesOf(grant));
  }

  decide(attributes: Attributes): Decision {
    if (attributes.path !== undefined) {
      return this.#cluster.onPath(attributes.verb, attributes.path) ?? this.#noOpinion('');
    }
    const { namespace } = attributes;
    return (
      this.#cluster.onResource(attributes) ??
      (namespace ? this.#namespaces.get(namespace)?.onResource(attributes) : undefined) ??
      this.#noOpinion(namespace)
    );
  }

  /** Returns all rules that apply in the namespace, and the errors that occurred while collecting them. */
  rulesIn(namespace: string): { readonly rules: readonly PolicyRule[]; readonly errors: readonly string[] } {
    const local = this.#namespaces.get(namespace);
    if (!local) return this.#cluster;
    return { rules: [...this.#cluster.rules, ...local.rules], errors: [...this.#cluster.errors, ...local.errors] };
  }

  #scopeFor(namespace: string): Scope {
    if (!namespace) return this.#cluster;
    return getOrInsert(this.#namespaces, namespace, () => new Scope(this.budget));
  }

  #noOpinion(namespace: string): Decision {
    const { errors } = this.#cluster;
    const local = this.#namespaces.get(namespace)?.errors;
    if (errors.length === 0 && !local?.length) return NO_OPINION;
    return { verdict: 'noOpinion', reason: `RBAC: ${joinErrors([...errors, ...(local ?? [])])}` };
  }
}

function getOrCreate<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  return getOrInsert(map, key, () => new Map());
}

function decisionOf(source: Source): Decision {
  source.decision ??= { verdict: 'allow', reason: `RBAC: allowed by ${describe(source.grant)}` };
  return source.decision;
}

function describe({ binding, namespace, roleRef, subject }: Grant): string {
  const kind = namespace ? 'RoleBinding' : 'ClusterRoleBinding';
  const name = namespace ? `${binding}/${namespace}` : binding;
  const subjectName =
    subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name;
  return `${kind} "${name}" of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${subjectName}"`;
}

/** Joins errors as Go's aggregate error does: without duplicates, in brackets if there are several. */
export function joinErrors(errors: readonly string[]): string {
  const different = [...new Set(errors)];
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`;
}
