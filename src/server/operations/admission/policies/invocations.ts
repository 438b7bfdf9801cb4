/** Finds the policies that apply to a request, with their bindings and parameters. */

import { ApiError, type Reason, type Status } from '../../../../api/errors.ts';
import type { ParamKind, ParamRef } from '../../../../kinds/groups/extension/admissionregistration/policies/params.ts';
import type { Kind, KubeObject, Version } from '../../../../kinds/kind.ts';
import { fromLabelSelector } from '../../../../schema/selector/selector.ts';
import { type AdmissionRequest, nameOf, rejected } from '../../../objects/admission/request.ts';
import type { Entry } from '../../../objects/cache/entry/entry.ts';
import { prepare } from '../../../objects/cache/entry/prepare.ts';
import { type MaybeAsync, whenReady } from '../../../objects/conversion/convert.ts';
import type { Reader } from '../../../objects/ports.ts';
import { readInTurns } from '../../../objects/reads/selection.ts';
import type { Resource } from '../../../objects/registry/registry.ts';
import type { Binding, Policy, RegisteredBinding, RegisteredPolicy } from './registered.ts';

export interface MatchedPolicy<P extends Policy, B extends Binding, C> {
  readonly registered: RegisteredPolicy<P, B, C>;
  /** The version in which the policy sees the request. */
  readonly version: Version;
}

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

/** A policy or binding that cannot be evaluated; the failure policy decides about the request. */
class Misconfigured extends Error {
  override readonly name = 'Misconfigured';
}

/** The parameters with which a policy is evaluated, one after the other; null: without parameters. */
type Params = readonly (KubeObject | null)[];

const WITHOUT_PARAMS: Params = [null];

/** Returns the kind of a policy's parameters; undefined when it has none. Throws Misconfigured. */
function paramResource(core: Reader, paramKind: ParamKind | undefined): Resource | undefined {
  if (!paramKind) return undefined;
  const { apiVersion = '', kind = '' } = paramKind;
  const resource = core.registry.resourcesOf(apiVersion).find((each) => each.kind.kind === kind);
  if (resource) return resource;
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  throw new Misconfigured(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`);
}

/** Returns the parameters of a binding for requests in a namespace. Throws Misconfigured. */
function paramsFor(
  core: Reader,
  resource: Resource | undefined,
  { paramRef, namespace }: { readonly paramRef: ParamRef | undefined; readonly namespace: string },
): MaybeAsync<Params> {
  if (!resource || !paramRef) return WITHOUT_PARAMS;
  const entries = entriesOf(core, resource, paramRef, namespace);
  return whenReady(entries, (selected) => {
    if (selected.length === 0 && paramRef.parameterNotFoundAction === 'Deny') {
      throw new Misconfigured('no params found for policy binding with `Deny` parameterNotFoundAction');
    }
    return whenReady(prepare(selected, resource), () => objectsOf(core, selected, resource));
  });
}

/** Decodes the objects over several turns of the event loop: there may be thousands of large ones. */
function objectsOf({ turns }: Reader, entries: readonly Entry[], resource: Resource): MaybeAsync<Params> {
  const objects: KubeObject[] = [];
  const reading = readInTurns(turns, entries, (entry) => void objects.push(entry.view(resource).object));
  return whenReady(reading, () => objects);
}

function entriesOf(core: Reader, { kind }: Resource, ref: ParamRef, requested: string): MaybeAsync<readonly Entry[]> {
  const table = core.cache.table(kind);
  const namespace = kind.scope === 'Namespaced' ? ref.namespace || requested : '';
  if (kind.scope === 'Namespaced' && !namespace) {
    throw new Misconfigured('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  }
  if (kind.scope === 'Cluster' && ref.namespace) {
    throw new Misconfigured('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  if (ref.name) {
    const entry = table.get(namespace, ref.name);
    return entry ? [entry] : [];
  }
  const selector = fromLabelSelector(ref.selector);
  const entries = table.entries(namespace);
  if (selector.empty) return entries;
  const selected: Entry[] = [];
  const reading = readInTurns(core.turns, entries, (entry) => {
    if (selector.matches(entry.hub(kind).metadata.labels)) selected.push(entry);
  });
  return whenReady(reading, () => selected);
}

const POLICIES = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]);
/** Groups of reviews, which are not stored: policies could prevent the server from using them. */
const REVIEW_GROUPS = new Set(['authentication.k8s.io', 'authorization.k8s.io']);

/** Reports whether policies do not apply to a kind. A policy must never prevent its own repair. */
export function isExempt({ group, plural }: Kind): boolean {
  return (group === 'admissionregistration.k8s.io' && POLICIES.has(plural)) || REVIEW_GROUPS.has(group);
}

export interface Denial {
  readonly policy: string;
  /** The binding; undefined when the policy itself cannot be evaluated. */
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason?: Reason | undefined;
}

/** Creates the error of the first ValidatingAdmissionPolicy that rejects a request. */
export function validationDenied(request: AdmissionRequest, { policy, binding, message, reason }: Denial): ApiError {
  const by = binding === undefined ? '' : ` with binding '${binding}'`;
  const why = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${message}`;
  const { message: text, details } = rejected(request, why);
  return new ApiError(reason ?? 'Invalid', text, { details: { ...details, causes: [{ message: why }] } });
}

/** Creates the error of MutatingAdmissionPolicies that could not be evaluated. */
export function mutationDenied(request: AdmissionRequest, denials: readonly Denial[]): ApiError {
  const causes = denials.map(({ policy, binding, message }) => ({
    message:
      binding === undefined
        ? `policy ${JSON.stringify(policy)} denied request: ${message}`
        : `policy '${policy}' with binding '${binding}' denied request: ${message}`,
  }));
  return new MutationDenied(denials[0]!.reason ?? 'Forbidden', causes[0]!.message, {
    details: { ...rejected(request, nameOf(request)).details, causes },
  });
}

/** An error with the code of Forbidden, whatever its reason. */
class MutationDenied extends ApiError {
  override get code(): number {
    return 403;
  }

  override toStatus(): Status {
    return { ...super.toStatus(), code: this.code };
  }
}
