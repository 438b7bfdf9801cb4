/** Rolls back to the template of an earlier revision, as `rollbackTo` requests. */
import type { DeepReadonly, Draft } from '../../../api/object-types.ts';
import { ROLLBACK_ANNOTATION } from '../../../kinds/conversion/rollback-to.ts';
import { Deployment } from '../../../kinds/groups/apps/deployment.ts';
import { type Action, event, update } from '../../loop/plan.ts';
import { earlierAnnotations, lastRevision, revisionOf, withoutRollback } from './annotations.ts';
import { sameTemplate, withoutHash } from './new-set.ts';
import type { WorkingSet } from './working-set.ts';

/** Returns the requested revision, 0 for the previous one; undefined when there is no request. */
export function rollbackOf({ metadata }: DeepReadonly<Deployment>): bigint | undefined {
  const text = metadata.annotations?.[ROLLBACK_ANNOTATION];
  return text !== undefined && /^\d+$/.test(text) ? BigInt(text) : undefined;
}

/** Rolls back to an earlier template. The request is cleared in the same write, whatever the result. */
export function rollBack(
  deployment: DeepReadonly<Deployment>,
  requested: bigint,
  sets: readonly WorkingSet[],
): Action[] {
  const { name } = deployment.metadata;
  const revision = requested || lastRevision(sets.map(working));
  if (revision === 0n) {
    return [cleared(deployment), warning(deployment, 'RevisionNotFound', 'Unable to find last revision.')];
  }
  const found = sets.map(working).find((set) => revisionOf(set) === revision);
  if (!found) {
    const message = 'Unable to find the revision to rollback to.';
    return [cleared(deployment), warning(deployment, 'RevisionNotFound', message)];
  }
  const template = withoutHash(found.spec.template as any);
  if (sameTemplate(template, deployment.spec.template)) {
    const message = `The rollback revision contains the same template as current deployment "${name}"`;
    return [cleared(deployment), warning(deployment, 'TemplateUnchanged', message)];
  }
  const annotations = earlierAnnotations(deployment.metadata.annotations, found.metadata.annotations);
  const earlier = {
    ...deployment,
    metadata: { ...deployment.metadata, annotations },
    spec: { ...deployment.spec, template },
  };
  const message = `Rolled back deployment "${name}" to revision ${revision}`;
  return [cleared(earlier), event(deployment, 'Normal', 'DeploymentRollback', message)];
}

/** Returns the set with the revision that the plan assigns. */
const working = ({ set, annotations }: WorkingSet) => ({ ...set, metadata: { ...set.metadata, annotations } });

function cleared(deployment: DeepReadonly<Deployment>): Action {
  const annotations = withoutRollback(deployment.metadata.annotations ?? {});
  const metadata = { ...deployment.metadata, annotations };
  return update(Deployment, { ...deployment, metadata } as unknown as Draft<Deployment>);
}

const warning = (deployment: DeepReadonly<Deployment>, what: string, message: string) =>
  event(deployment, 'Warning', `DeploymentRollback${what}`, message);
