import { MutatingAdmissionPolicy } from '../../../../kinds/groups/extension/admissionregistration/policies/mutating-admission-policy.ts';
import { ValidatingAdmissionPolicy } from '../../../../kinds/groups/extension/admissionregistration/policies/validating-admission-policy.ts';
import { ValidatingAdmissionPolicyBinding } from '../../../../kinds/groups/extension/admissionregistration/policies/validating-admission-policy-binding.ts';
import type { Kind, Version } from '../../../../kinds/kind.ts';
import type { Access } from '../../../access/ports.ts';
import type { AdmissionOperation, AdmissionRequest } from '../../../objects/admission/request.ts';
import { type MaybeAsync, whenReady } from '../../../objects/conversion/convert.ts';
import type { Reader } from '../../../objects/ports.ts';
import { warnOfOtherVersions } from '../exact-match.ts';
import { RequestValues } from '../expressions/activation.ts';
import { readOnlyForm } from '../form.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import {
  type Denial,
  type Invocation,
  invocationsOf,
  isExempt,
  type MatchedPolicy,
  matchedPolicies,
  validationDenied,
} from './invocations.ts';
import { registeredPolicies } from './registered.ts';
import { compileValidation, type PolicyViolation, type Validation } from './validation.ts';

type Ports = Reader & Pick<Access, 'authorizer'>;

type Matched = MatchedPolicy<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, Validation>;
type Bound = Invocation<ValidatingAdmissionPolicyBinding>;

const policiesOf = registeredPolicies(
  { policies: ValidatingAdmissionPolicy, bindings: ValidatingAdmissionPolicyBinding },
  compileValidation,
);

const FAILURE_ANNOTATION = 'validation.policy.admission.k8s.io/validation_failure';

export const validatingAdmissionPolicy: AdmissionPlugin = {
  name: 'ValidatingAdmissionPolicy',
  handles: (kind, operation, subresource) => !isExempt(kind) || isWritten(kind, operation, subresource),

  validate(core, request) {
    if (isExempt(request.kind)) return noteMatchPolicy(core, request);
    const policies = policiesOf(core);
    if (policies.length === 0) return undefined;
    const matched = matchedPolicies(core, request, policies);
    return matched.length === 0 ? undefined : validateAll(core, request, matched);
  },
};

/** Reports whether a policy is being written. Policies are exempt from policies; their authors are warned. */
function isWritten(kind: Kind, operation: AdmissionOperation, subresource: string | undefined): boolean {
  const isPolicy = kind === ValidatingAdmissionPolicy || kind === MutatingAdmissionPolicy;
  return isPolicy && !subresource && (operation === 'CREATE' || operation === 'UPDATE');
}

function noteMatchPolicy({ registry }: Ports, request: AdmissionRequest): void {
  const { spec } = request.object as ValidatingAdmissionPolicy | MutatingAdmissionPolicy;
  const { matchPolicy, resourceRules } = spec.matchConstraints ?? {};
  warnOfOtherVersions(registry.kinds, [{ field: 'spec.matchConstraints', matchPolicy, rules: resourceRules }], request);
}

/** Evaluates all policies, because of their warnings and annotations; the first rejection is returned. */
async function validateAll(core: Ports, request: AdmissionRequest, policies: readonly Matched[]): Promise<void> {
  const denials: Denial[] = [];
  const values = new Map<Version, RequestValues>();
  for (const matched of policies) {
    const { registered, version } = matched;
    const finding = invocationsOf(core, request, registered);
    const found = finding instanceof Promise ? await finding : finding;
    for (const denial of found.denials) denials.push(denial);
    const annotations = new AuditAnnotations(registered.name, request);
    for (const invocation of found.invocations) {
      if (invocation.params.length === 0) continue;
      const asked = values.get(version) ?? valuesIn(core, request, version);
      const known = asked instanceof Promise ? await asked : asked;
      values.set(version, known);
      for (const denial of await evaluateBinding(core, request, { matched, invocation, values: known, annotations })) {
        denials.push(denial);
      }
    }
    annotations.publish();
  }
  if (denials.length > 0) throw validationDenied(request, denials[0]!);
}

function valuesIn(core: Ports, request: AdmissionRequest, version: Version): MaybeAsync<RequestValues> {
  return whenReady(readOnlyForm(request, version, false), (form) => new RequestValues({ core, request, form }));
}

interface Evaluation {
  readonly matched: Matched;
  readonly invocation: Bound;
  readonly values: RequestValues;
  readonly annotations: AuditAnnotations;
}

async function evaluateBinding(
  core: Ports,
  request: AdmissionRequest,
  { matched, invocation, values, annotations }: Evaluation,
): Promise<readonly Denial[]> {
  const { registered } = matched;
  const { bound, params } = invocation;
  const denials: Denial[] = [];
  const denied = ({ message, reason }: PolicyViolation) => {
    denials.push({ policy: registered.name, binding: bound.name, message, reason });
  };
  const run = registered.compiled().begin(core.turns);
  for (const param of params) {
    if (params.length > 1 && core.turns.isSpent()) await core.turns.nextTurn();
    const outcome = await run.evaluate(values, param);
    for (const decision of outcome.decisions) {
      for (const action of bound.binding.spec.validationActions ?? []) {
        if (action === 'Deny') denied(decision);
        else if (action === 'Warn') warn(request, registered.name, bound.name, decision);
        else if (action === 'Audit') audit(request, invocation, decision);
      }
    }
    for (const failed of outcome.failedAnnotations) denied(failed);
    for (const [key, value] of outcome.annotations) annotations.add(key, value);
  }
  return denials;
}

function warn(request: AdmissionRequest, policy: string, binding: string, { message }: PolicyViolation): void {
  request.warn(`Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${binding}': ${message}`);
}

function audit(request: AdmissionRequest, { bound }: Bound, { message, index }: PolicyViolation): void {
  const { policyName: policy, validationActions } = bound.binding.spec;
  const failure = { message, policy, binding: bound.name, expressionIndex: index, validationActions };
  request.annotate(FAILURE_ANNOTATION, JSON.stringify([failure]));
}

const MAX_VALUE_BYTES = 10 * 1024;

/** The audit annotations of one policy. Different values for one key, from several bindings, are joined. */
class AuditAnnotations {
  #values: Map<string, Set<string>> | undefined;

  constructor(
    private readonly policy: string,
    private readonly request: AdmissionRequest,
  ) {}

  add(key: string, value: string): void {
    this.#values ??= new Map();
    const others = this.#values.get(key) ?? new Set();
    this.#values.set(key, others.add(cut(value)));
  }

  publish(): void {
    for (const [key, values] of this.#values ?? []) {
      this.request.annotate(`${this.policy}/${key}`, [...values].join(', '));
    }
  }
}

function cut(value: string): string {
  return Buffer.byteLength(value) <= MAX_VALUE_BYTES ? value : Buffer.from(value).toString('utf8', 0, MAX_VALUE_BYTES);
}
