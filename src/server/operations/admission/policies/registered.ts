/** The effective policies with their bindings, cached until one of them changes. */
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import type { MatchResources } from '../../../../kinds/groups/extension/admissionregistration/policies/match-resources.ts';
import type { ParamKind, ParamRef } from '../../../../kinds/groups/extension/admissionregistration/policies/params.ts';
import type { Kind, KubeObject } from '../../../../kinds/kind.ts';
import type { Reader } from '../../../objects/ports.ts';
import { derivedFrom } from '../../../objects/reads/lookup.ts';
import { RequestMatcher } from '../matching.ts';

type Ports = Pick<Reader, 'cache'>;

/** The fields that both kinds of policies have. */
export interface Policy extends KubeObject {
  readonly spec: {
    readonly paramKind?: ParamKind;
    readonly matchConstraints?: MatchResources;
    readonly failurePolicy: string;
  };
}

/** The fields that both kinds of bindings have. */
export interface Binding extends KubeObject {
  readonly spec: {
    readonly policyName?: string;
    readonly paramRef?: ParamRef;
    readonly matchResources?: MatchResources;
  };
}

export interface RegisteredPolicy<P extends Policy, B extends Binding, C> {
  readonly policy: P;
  readonly name: string;
  readonly matcher: RequestMatcher;
  readonly bindings: readonly RegisteredBinding<B>[];
  /** The expressions of the policy, compiled on first use. */
  readonly compiled: () => C;
}

export interface RegisteredBinding<B extends Binding> {
  readonly binding: B;
  readonly name: string;
  /** The matcher; undefined when the binding applies wherever its policy does. */
  readonly matcher: RequestMatcher | undefined;
}

interface Kinds<P extends Policy, B extends Binding> {
  readonly policies: Kind<P>;
  readonly bindings: Kind<B>;
}

interface State<P extends Policy, B extends Binding, C> {
  readonly policies: readonly P[];
  readonly bindings: object;
  readonly result: readonly RegisteredPolicy<P, B, C>[];
  /** Compiled policies by uid and generation: a write of the status does not compile anything again. */
  readonly compiled: ReadonlyMap<string, () => C>;
}

/** Returns the policies with bindings, by name. A policy is compiled once per generation. */
export function registeredPolicies<P extends Policy, B extends Binding, C>(
  kinds: Kinds<P, B>,
  compile: (policy: P) => C,
): (core: Ports) => readonly RegisteredPolicy<P, B, C>[] {
  const bindingsOf = derivedFrom(kinds.bindings, byPolicy<B>);
  const policiesOf = derivedFrom(kinds.policies, (policies) => policies.toSorted(byName));
  const states = new WeakMap<Ports, State<P, B, C>>();
  return (core) => {
    const bindings = bindingsOf(core);
    if (bindings.size === 0) return [];
    const policies = policiesOf(core);
    const state = states.get(core);
    if (state?.policies === policies && state.bindings === bindings) return state.result;
    const compiled = new Map<string, () => C>();
    const result = policies.flatMap((policy) => {
      const { name = '', uid, generation } = policy.metadata;
      const own = bindings.get(name);
      if (!own) return [];
      const key = `${uid}/${generation}`;
      compiled.set(key, state?.compiled.get(key) ?? once(() => compile(policy)));
      return [
        { policy, name, matcher: matcherOf(policy.spec.matchConstraints), bindings: own, compiled: compiled.get(key)! },
      ];
    });
    states.set(core, { policies, bindings, result, compiled });
    return result;
  };
}

function once<T>(work: () => T): () => T {
  let done: { readonly value: T } | undefined;
  return () => {
    done ??= { value: work() };
    return done.value;
  };
}

const byName = (a: KubeObject, b: KubeObject) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1);

function byPolicy<B extends Binding>(bindings: readonly B[]): ReadonlyMap<string, readonly RegisteredBinding<B>[]> {
  const found = new Map<string, RegisteredBinding<B>[]>();
  for (const binding of bindings.toSorted(byName)) {
    const { policyName = '', matchResources } = binding.spec;
    const matcher = matchResources && matcherOf(matchResources);
    const each = { binding, name: binding.metadata.name ?? '', matcher };
    getOrInsert(found, policyName, () => []).push(each);
  }
  return found;
}

const NOTHING: MatchResources = { matchPolicy: 'Exact', namespaceSelector: {}, objectSelector: {} };

function matcherOf(resources: MatchResources = NOTHING): RequestMatcher {
  const { resourceRules = [], excludeResourceRules = [], ...others } = resources;
  const matchesWithoutRules = resources !== NOTHING;
  return new RequestMatcher({ ...others, excluded: excludeResourceRules, rules: resourceRules, matchesWithoutRules });
}
