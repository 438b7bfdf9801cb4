/** Writes the result of type checking a ValidatingAdmissionPolicy into its status, once for each generation. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeepReadonly } from '../../../api/object-types.ts';
import {
  type CheckedType,
  checkTypes,
  type ExpressionWarning,
  type TypeSource,
} from '../../../kinds/groups/extension/admissionregistration/expressions/type-checking.ts';
import { ValidatingAdmissionPolicy } from '../../../kinds/groups/extension/admissionregistration/policies/validating-admission-policy.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { type Controller, defineController, type Snapshot } from '../../loop/define.ts';
import { type Plan, updateStatus } from '../../loop/plan.ts';
import type { KindsOptions } from '../../shared/aggregated-kinds.ts';

const EXPRESSIONS_PER_TURN = 10;

type Warnings = readonly ExpressionWarning[];

export function typeCheckingController({ kinds }: KindsOptions): Controller {
  return defineController<ValidatingAdmissionPolicy, Warnings>({
    name: 'validatingadmissionpolicy-status',
    account: 'validatingadmissionpolicy-status-controller',
    watches: ValidatingAdmissionPolicy,
    observe: async (policy) => (policy && isUnchecked(policy) ? check(policy, kinds()) : []),
    plan: planTypeChecking,
  });
}

const isUnchecked = ({ metadata, status }: DeepReadonly<ValidatingAdmissionPolicy>) =>
  (metadata.generation ?? 0) > (status?.observedGeneration ?? 0);

export function planTypeChecking(
  policy: DeepReadonly<ValidatingAdmissionPolicy> | undefined,
  { observed }: Pick<Snapshot<Warnings>, 'observed'>,
): Plan {
  if (!policy || policy.metadata.deletionTimestamp || !isUnchecked(policy)) return [];
  const typeChecking = observed.length > 0 ? { expressionWarnings: [...observed] } : {};
  const status = { ...policy.status, observedGeneration: policy.metadata.generation ?? 0, typeChecking };
  return [updateStatus(ValidatingAdmissionPolicy, { ...policy, status })];
}

/** Long policies are checked in several turns of the event loop. */
async function check({ spec }: DeepReadonly<ValidatingAdmissionPolicy>, kinds: Iterable<Kind>): Promise<Warnings> {
  const steps = checkTypes(spec, sourceOf([...kinds]));
  for (let step = steps.next(), count = 1; ; step = steps.next(), count++) {
    if (step.done) return step.value;
    if (count % EXPRESSIONS_PER_TURN === 0) await nextTurn();
  }
}

function sourceOf(kinds: readonly Kind[]): TypeSource {
  const find = (apiVersion: string, is: (kind: Kind) => boolean): CheckedType | undefined => {
    for (const kind of kinds) {
      const version = is(kind) && kind.versions.find((each) => each.apiVersion === apiVersion);
      if (version) return { kind, version };
    }
    return undefined;
  };
  return {
    ofResource: (apiVersion, plural) => find(apiVersion, (kind) => kind.plural === plural),
    ofKind: (apiVersion, name) => find(apiVersion, ({ kind }) => kind === name),
  };
}
