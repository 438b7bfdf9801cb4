/** Finds the policies that apply to a request, with their bindings and parameters. */
import type { KubeObject, Version } from '../../../../kinds/kind.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';
import type { MaybeAsync } from '../../../objects/conversion/convert.ts';
import type { Reader } from '../../../objects/ports.ts';
import type { Denial } from './denial.ts';
import { Misconfigured, type Params, paramResource, paramsFor, WITHOUT_PARAMS } from './params.ts';
import type { Binding, Policy, RegisteredBinding, RegisteredPolicy } from './registered.ts';

export interface MatchedPolicy<P extends Policy, B extends Binding, C> {
  readonly registered: RegisteredPolicy<P, B, C>;
  /** The version in which the policy sees the request. */
  readonly version: Version;
}

/** Returns the policies that apply to a request. */
export function matchedPolicies<P extends Policy, B extends Binding, C>(
  core: Reader,
  request: AdmissionRequest,
  policies: readonly RegisteredPolicy<P, B, C>[],
): readonly MatchedPolicy<P, B, C>[] {
  const matched: MatchedPolicy<P, B, C>[] = [];
  for (const registered of policies) {
    const version = registered.matcher.versionFor(core, request);
    if (version) matched.push({ registered, version });
  }
  return matched;
}

/** A binding that applies to a request, with the parameters for evaluating the policy. */
export interface Invocation<B extends Binding> {
  readonly bound: RegisteredBinding<B>;
  readonly params: Params;
}

interface Invocations<B extends Binding> {
  readonly invocations: readonly Invocation<B>[];
  readonly denials: readonly Denial[];
}

/** Returns the bindings of a policy that apply to a request. Reports those that cannot be used. */
export function invocationsOf<P extends Policy, B extends Binding, C>(
  core: Reader,
  request: AdmissionRequest,
  registered: RegisteredPolicy<P, B, C>,
): MaybeAsync<Invocations<B>> {
  const { policy, bindings } = registered;
  if (policy.spec.paramKind) return parameterized(core, request, registered);
  const applying = bindings.filter(({ matcher }) => !matcher || matcher.versionFor(core, request));
  return { invocations: applying.map((bound) => ({ bound, params: WITHOUT_PARAMS })), denials: [] };
}

async function parameterized<P extends Policy, B extends Binding, C>(
  core: Reader,
  request: AdmissionRequest,
  { policy, name, bindings }: RegisteredPolicy<P, B, C>,
): Promise<Invocations<B>> {
  const invocations: Invocation<B>[] = [];
  const denials: Denial[] = [];
  const report = (error: unknown, binding: string | undefined) => {
    if (!(error instanceof Misconfigured)) throw error;
    if (policy.spec.failurePolicy === 'Ignore') return;
    const what = binding === undefined ? 'policy' : 'binding';
    denials.push({ policy: name, binding, message: `failed to configure ${what}: ${error.message}` });
  };
  try {
    const resource = paramResource(core, policy.spec.paramKind);
    for (const bound of bindings) {
      if (bound.matcher && !bound.matcher.versionFor(core, request)) continue;
      try {
        const { paramRef } = bound.binding.spec;
        const params = paramsFor(core, resource, { paramRef, namespace: request.namespace });
        invocations.push({ bound, params: params instanceof Promise ? await params : params });
      } catch (error) {
        report(error, bound.name);
      }
    }
  } catch (error) {
    report(error, undefined);
  }
  return { invocations, denials };
}

export const paramName = (param: KubeObject | null) =>
  param ? `${param.metadata.namespace ?? ''}/${param.metadata.name ?? ''}` : '';
