import { deepEqual } from '../../../../base/json/tree.ts';
import { scaleShapeOf } from '../../../../kinds/groups/autoscaling/scale.ts';
import { MutatingAdmissionPolicy } from '../../../../kinds/groups/extension/admissionregistration/policies/mutating-admission-policy.ts';
import { MutatingAdmissionPolicyBinding } from '../../../../kinds/groups/extension/admissionregistration/policies/mutating-admission-policy-binding.ts';
import type { KubeObject, Version } from '../../../../kinds/kind.ts';
import type { ObjectSchema } from '../../../../schema/schema.ts';
import type { Access } from '../../../access/ports.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';
import type { Reader } from '../../../objects/ports.ts';
import { Activation, RequestValues } from '../expressions/activation.ts';
import { ExpressionFailed, matchesConditions } from '../expressions/evaluation.ts';
import { type AdmittedForm, formOf, fromForm } from '../form.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { type FirstRound, Rounds } from '../reinvocation.ts';
import {
  type Denial,
  invocationsOf,
  isExempt,
  type MatchedPolicy,
  matchedPolicies,
  mutationDenied,
  paramName,
} from './invocations.ts';
import { type CompiledMutations, compileMutations, type Mutator } from './mutation.ts';
import { registeredPolicies } from './registered.ts';

type Ports = Reader & Pick<Access, 'authorizer'>;

type Matched = MatchedPolicy<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, CompiledMutations>;

const policiesOf = registeredPolicies(
  { policies: MutatingAdmissionPolicy, bindings: MutatingAdmissionPolicyBinding },
  compileMutations,
);

/** Rounds by the name, binding and parameter of a policy. */
const rounds = new Rounds<string>();

/** Evaluates MutatingAdmissionPolicies, one after the other, and applies their changes. */
export const mutatingAdmissionPolicy: AdmissionPlugin = {
  name: 'MutatingAdmissionPolicy',
  // A changed object is decoded with the schema of its version, which fills in the defaults.
  keepsDefaults: true,
  handles: (kind) => !isExempt(kind),

  admit(core, request) {
    const policies = policiesOf(core);
    if (policies.length === 0) return undefined;
    const matched = matchedPolicies(core, request, policies);
    return matched.length === 0 ? undefined : mutateAll(core, request, matched);
  },
};

async function mutateAll(core: Ports, request: AdmissionRequest, policies: readonly Matched[]): Promise<void> {
  const denials: Denial[] = [];
  const round = rounds.of(request);
  for (const { registered, version } of policies) {
    const found = await invocationsOf(core, request, registered);
    for (const denial of found.denials) denials.push(denial);
    for (const { bound, params } of found.invocations) {
      for (const param of params) {
        if (core.turns.isSpent()) await core.turns.nextTurn();
        const key = `${registered.name}/${bound.name}/${paramName(param)}`;
        const turn = { compiled: registered.compiled(), version, param, round, key };
        const isInvoked = await mutate(core, request, turn, (message) => {
          if (registered.policy.spec.failurePolicy === 'Ignore') return;
          denials.push({ policy: registered.name, binding: bound.name, message, reason: 'Invalid' });
        });
        if (isInvoked && registered.policy.spec.reinvocationPolicy === 'IfNeeded') round.asked(key);
      }
    }
  }
  round.ended(request);
  if (denials.length > 0) throw mutationDenied(request, denials);
}

interface Turn {
  readonly compiled: CompiledMutations;
  readonly version: Version;
  readonly param: KubeObject | null;
  readonly round: FirstRound<string>;
  readonly key: string;
}

/** Applies the mutations of a policy with one parameter. Returns whether the policy took part in this round. */
async function mutate(
  core: Ports,
  request: AdmissionRequest,
  { compiled, version, param, round, key }: Turn,
  failed: (message: string) => void,
): Promise<boolean> {
  const prepare = async () => {
    const form = await formOf(request, version, request.operation === 'CREATE');
    return { form, activation: new Activation(new RequestValues({ core, request, form }), param, compiled.variables) };
  };
  let { form, activation } = await prepare();
  try {
    if (!(await matchesConditions(compiled.conditions, activation))) return false;
  } catch (error) {
    if (!(error instanceof ExpressionFailed)) throw error;
    failed(error.message);
    return false;
  }
  if (!round.includes(key, request)) return false;
  for (const mutator of compiled.mutators) {
    if (!form.object || request.operation === 'CONNECT') break;
    if (core.turns.isSpent()) await core.turns.nextTurn();
    try {
      if (!(await apply(request, { mutator, form, activation }))) continue;
      round.changed(request);
      ({ form, activation } = await prepare());
    } catch (error) {
      if (!(error instanceof ExpressionFailed)) throw error;
      failed(error.message);
    }
  }
  return true;
}

interface Application {
  readonly mutator: Mutator;
  readonly form: AdmittedForm;
  readonly activation: Activation;
}

/** Applies one mutation, and returns whether the object changed. */
async function apply(request: AdmissionRequest, { mutator, form, activation }: Application): Promise<boolean> {
  const subject = { schema: schemaOf(request, form.version), object: form.object! };
  const mutated = await mutator(subject, activation);
  if (deepEqual(mutated, form.object)) return false;
  request.replace(await fromForm(request, form.version, mutated));
  return true;
}

function schemaOf({ body, subresource }: AdmissionRequest, version: Version): ObjectSchema {
  if (body?.schema) return body.schema;
  return subresource === 'scale' ? scaleShapeOf(version.apiVersion).schema : version.schema;
}
