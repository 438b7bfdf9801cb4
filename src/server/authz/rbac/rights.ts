/** What one user may do, put together from its bindings. Made when first asked for, thrown away when a role changes. */
import type { PolicyRule } from '../../../kinds/groups/rbac/policy-rule.ts';
import { type Attributes, type Decision, NO_OPINION, type ResourceAttributes } from '../authorizer.ts';
import type { Grant } from './bindings.ts';
import { allowsPath, allowsResource, allowsVerb } from './rule.ts';

/** How many different questions are remembered: everybody may ask about anything, so that it has to end somewhere. */
const REMEMBERED = 2048;

/** The rules of a role; a text says why there are none. */
export type RulesOf = (grant: Grant) => readonly PolicyRule[] | string;

/** The rules of one binding, with the words for a decision that rests on it. */
interface Source {
  readonly grant: Grant;
  readonly rules: readonly PolicyRule[];
  decision: Decision | undefined;
}

/** What is known about a verb on a resource: whether all objects are allowed, and which by their names. */
interface Known {
  readonly all: Decision | undefined;
  readonly byName: ReadonlyMap<string, Decision> | undefined;
}

const NOTHING: Known = Object.freeze({ all: undefined, byName: undefined });

/** Answers from rules of one scope: the whole cluster, or one namespace. */
class Scope {
  readonly #sources: Source[] = [];
  /** By resource, subresource, group and verb: strings that exist already, so that asking makes none. */
  #known = new Map<string, Map<string, Map<string, Map<string, Known>>>>();
  #paths = new Map<string, Map<string, Decision | undefined>>();
  #count = 0;
  readonly errors: string[] = [];

  add(grant: Grant, rules: readonly PolicyRule[] | string): void {
    if (typeof rules === 'string') this.errors.push(rules);
    else if (rules.length > 0) this.#sources.push({ grant, rules, decision: undefined });
  }

  get rules(): readonly PolicyRule[] {
    return this.#sources.flatMap(({ rules }) => rules);
  }

  onResource(attributes: ResourceAttributes): Decision | undefined {
    const { resource, subresource, group, verb } = attributes;
    const known = this.#known.get(resource)?.get(subresource)?.get(group)?.get(verb) ?? this.#learn(attributes);
    return known.all ?? known.byName?.get(attributes.name);
  }

  onPath(verb: string, path: string): Decision | undefined {
    const known = this.#paths.get(path);
    if (known?.has(verb)) return known.get(verb);
    const found = this.#find((rule) => allowsVerb(rule, verb) && allowsPath(rule, path));
    this.#makeRoom();
    const byVerb = known ?? new Map<string, Decision | undefined>();
    this.#paths.set(path, byVerb.set(verb, found));
    return found;
  }

  #learn(attributes: ResourceAttributes): Known {
    const known = this.#look(attributes);
    this.#makeRoom();
    const { resource, subresource, group, verb } = attributes;
    within(within(within(this.#known, resource), subresource), group).set(verb, known);
    return known;
  }

  #look(attributes: ResourceAttributes): Known {
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
    return byName ? { all: undefined, byName } : NOTHING;
  }

  #find(fits: (rule: PolicyRule) => boolean): Decision | undefined {
    const source = this.#sources.find(({ rules }) => rules.some(fits));
    return source && decisionOf(source);
  }

  #makeRoom(): void {
    if (++this.#count <= REMEMBERED) return;
    this.#known = new Map();
    this.#paths = new Map();
    this.#count = 1;
  }
}

export class Rights {
  readonly #cluster = new Scope();
  /** Only namespaces in which a RoleBinding names the user. */
  readonly #namespaces = new Map<string, Scope>();

  constructor(grants: readonly Grant[], rulesOf: RulesOf) {
    for (const grant of grants) this.#scopeFor(grant.namespace).add(grant, rulesOf(grant));
  }

  decide(attributes: Attributes): Decision {
    if (attributes.path !== undefined) {
      return this.#cluster.onPath(attributes.verb, attributes.path) ?? this.#refusal('');
    }
    const { namespace } = attributes;
    return (
      this.#cluster.onResource(attributes) ??
      (namespace ? this.#namespaces.get(namespace)?.onResource(attributes) : undefined) ??
      this.#refusal(namespace)
    );
  }

  /** Every rule that counts in the namespace, and what went wrong when they were gathered. */
  rulesIn(namespace: string): { readonly rules: readonly PolicyRule[]; readonly errors: readonly string[] } {
    const local = this.#namespaces.get(namespace);
    if (!local) return this.#cluster;
    return { rules: [...this.#cluster.rules, ...local.rules], errors: [...this.#cluster.errors, ...local.errors] };
  }

  #scopeFor(namespace: string): Scope {
    if (!namespace) return this.#cluster;
    let scope = this.#namespaces.get(namespace);
    if (!scope) {
      scope = new Scope();
      this.#namespaces.set(namespace, scope);
    }
    return scope;
  }

  #refusal(namespace: string): Decision {
    const { errors } = this.#cluster;
    const local = this.#namespaces.get(namespace)?.errors;
    if (errors.length === 0 && !local?.length) return NO_OPINION;
    return { verdict: 'noOpinion', reason: `RBAC: ${oneText([...errors, ...(local ?? [])])}` };
  }
}

function within<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let inner = map.get(key);
  if (!inner) {
    inner = new Map();
    map.set(key, inner);
  }
  return inner;
}

function decisionOf(source: Source): Decision {
  source.decision ??= { verdict: 'allow', reason: `RBAC: allowed by ${describe(source.grant)}` };
  return source.decision;
}

function describe({ binding, namespace, roleRef, subject }: Grant): string {
  const kind = namespace ? 'RoleBinding' : 'ClusterRoleBinding';
  const name = namespace ? `${binding}/${namespace}` : binding;
  const whom = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name;
  return `${kind} "${name}" of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${whom}"`;
}

/** Several are written as Go writes a list of errors: each once. */
export function oneText(errors: readonly string[]): string {
  const different = [...new Set(errors)];
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`;
}
