import { ValidatingAdmissionPolicy } from '../../../kinds/groups/admissionregistration/policies/validating-admission-policy.ts';
import { ValidatingAdmissionPolicyBinding } from '../../../kinds/groups/admissionregistration/policies/validating-admission-policy-binding.ts';
import type { Version } from '../../../kinds/kind.ts';
import { eachWhenReady, type MaybeAsync, whenReady } from '../../conversion/convert.ts';
import type { Core } from '../../core.ts';
import { RequestValues } from '../expressions/activation.ts';
import { readOnlyForm } from '../form.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { AdmissionRequest } from '../request.ts';
import { AuditAnnotations } from './audit-annotations.ts';
import { type Denial, validationDenied } from './denial.ts';
import { isExempt } from './exempt.ts';
import { type Invocation, invocationsOf, type MatchedPolicy, matchedPolicies } from './invocations.ts';
import { registeredPolicies } from './registered.ts';
import { compileValidation, type Decision, type Outcome, type Validation } from './validation.ts';

type Matched = MatchedPolicy<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, Validation>;
type Bound = Invocation<ValidatingAdmissionPolicyBinding>;

const policiesOf = registeredPolicies(
  { policies: ValidatingAdmissionPolicy, bindings: ValidatingAdmissionPolicyBinding },
  compileValidation,
);

const FAILURE_ANNOTATION = 'validation.policy.admission.k8s.io/validation_failure';

/** Evaluates ValidatingAdmissionPolicies. */
export const validatingAdmissionPolicy: AdmissionPlugin = {
  name: 'ValidatingAdmissionPolicy',
  handles: (kind) => !isExempt(kind),

  validate(core, request) {
    const policies = policiesOf(core);
    if (policies.length === 0) return undefined;
    const matched = matchedPolicies(core, request, policies);
    return matched.length === 0 ? undefined : validateAll(core, request, matched);
  },
};

/** All policies are evaluated, because of their warnings and annotations; the first rejection counts. */
function validateAll(core: Core, request: AdmissionRequest, policies: readonly Matched[]): MaybeAsync<void> {
  const denials: Denial[] = [];
  const valuesOf = valuesByVersion(core, request);
  const evaluated = eachWhenReady(policies, (matched) => evaluatePolicy(core, request, { matched, valuesOf, denials }));
  return whenReady(evaluated, () => {
    if (denials.length > 0) throw validationDenied(request, denials[0]!);
  });
}

type ValuesOf = (version: Version) => MaybeAsync<RequestValues>;

/** The values of a request, for policies that see it in different versions. */
function valuesByVersion(core: Core, request: AdmissionRequest): ValuesOf {
  const known = new Map<Version, MaybeAsync<RequestValues>>();
  return (version) => {
    let values = known.get(version);
    if (!values) {
      values = whenReady(readOnlyForm(request, version, false), (form) => new RequestValues({ core, request, form }));
      known.set(version, values);
    }
    return values;
  };
}

interface PolicyEvaluation {
  readonly matched: Matched;
  readonly valuesOf: ValuesOf;
  /** Those of the policy are added. */
  readonly denials: Denial[];
}

function evaluatePolicy(
  core: Core,
  request: AdmissionRequest,
  { matched, valuesOf, denials }: PolicyEvaluation,
): MaybeAsync<void> {
  const { registered, version } = matched;
  const annotations = new AuditAnnotations(registered.name, request);
  const evaluated = whenReady(invocationsOf(core, request, registered), (found) => {
    for (const denial of found.denials) denials.push(denial);
    return eachWhenReady(found.invocations, (invocation) => {
      if (invocation.params.length === 0) return undefined;
      const evaluate = (values: RequestValues) =>
        evaluateBinding(core, request, { registered, invocation, values, annotations, denials });
      return whenReady(valuesOf(version), evaluate);
    });
  });
  return whenReady(evaluated, () => annotations.publish());
}

interface BindingEvaluation {
  readonly registered: Matched['registered'];
  readonly invocation: Bound;
  readonly values: RequestValues;
  readonly annotations: AuditAnnotations;
  readonly denials: Denial[];
}

function evaluateBinding(
  core: Core,
  request: AdmissionRequest,
  { registered, invocation, values, annotations, denials }: BindingEvaluation,
): MaybeAsync<void> {
  const { bound, params } = invocation;
  const denied = ({ message, reason }: Decision) => {
    denials.push({ policy: registered.name, binding: bound.name, message, reason });
  };
  const run = registered.compiled().begin(core.turns);
  const take = (outcome: Outcome) => {
    for (const decision of outcome.decisions) {
      for (const action of bound.binding.spec.validationActions ?? []) {
        if (action === 'Deny') denied(decision);
        else if (action === 'Warn') warn(request, registered.name, bound.name, decision);
        else if (action === 'Audit') audit(request, invocation, decision);
      }
    }
    for (const failed of outcome.failedAnnotations) denied(failed);
    for (const [key, value] of outcome.annotations) annotations.add(key, value);
  };
  return eachWhenReady(params, (param) => {
    const rest = params.length > 1 && core.turns.isSpent() ? core.turns.nextTurn() : undefined;
    return whenReady(
      whenReady(rest, () => run.evaluate(values, param)),
      take,
    );
  });
}

function warn(request: AdmissionRequest, policy: string, binding: string, { message }: Decision): void {
  request.warn(`Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${binding}': ${message}`);
}

function audit(request: AdmissionRequest, { bound }: Bound, { message, index }: Decision): void {
  const { policyName: policy, validationActions } = bound.binding.spec;
  const failure = { message, policy, binding: bound.name, expressionIndex: index, validationActions };
  request.annotate(FAILURE_ANNOTATION, JSON.stringify([failure]));
}
