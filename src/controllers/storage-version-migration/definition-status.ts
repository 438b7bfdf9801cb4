/** Reports the state of a migration in the status of the custom kind's definition. */
import type { DeepReadonly } from '../../api/object-types.ts';
import {
  CustomResourceDefinition,
  type CustomResourceDefinition as Definition,
} from '../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import { type Action, patchStatus } from '../loop/plan.ts';

type Conditions = NonNullable<Definition['status']['conditions']>;
type Condition = Conditions[number];

const TYPE = 'StorageMigrating';

/** Marks the definition of a kind whose objects are being written again. */
export function beginMigration(definition: DeepReadonly<Definition>, name: string, now: Date): Action {
  const condition = { status: 'True', reason: 'MigrationRunning', message: `Migration ${name} is running` };
  return statusPatch(definition, condition, now);
}

/**
 * Says how the migration has ended. After a success, the definition forgets the versions in which nothing is stored, unless
 * it has changed meanwhile: objects may then have been stored in another version.
 */
export function endMigration(definition: DeepReadonly<Definition>, isSuccess: boolean, now: Date): Action {
  if (!isSuccess) {
    return statusPatch(
      definition,
      { status: 'False', reason: 'MigrationFailed', message: 'The migration has failed' },
      now,
    );
  }
  const { metadata, spec } = definition;
  const isSame = conditionOf(definition)?.observedGeneration === metadata.generation;
  const outcome = isSame
    ? 'and the stored versions have been updated'
    : 'but the stored versions have not been updated due to a generation mismatch';
  const message = `The migration has succeeded ${outcome}`;
  const stored = spec.versions.filter(({ storage }) => storage).map(({ name }) => name);
  const condition = { status: 'False', reason: 'MigrationSucceeded', message };
  return statusPatch(definition, condition, now, isSame ? { storedVersions: stored } : {});
}

function conditionOf({ status }: DeepReadonly<Definition>): DeepReadonly<Condition> | undefined {
  return status.conditions?.find(({ type }) => type === TYPE);
}

/** Fails if the definition has changed since it was read. */
function statusPatch(
  definition: DeepReadonly<Definition>,
  { status, reason, message }: { status: string; reason: string; message: string },
  now: Date,
  changes: { readonly storedVersions?: readonly string[] } = {},
): Action {
  const { uid, resourceVersion, generation } = definition.metadata;
  const time = now.toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = { type: TYPE, status, lastTransitionTime: time, reason, message, observedGeneration: generation };
  const others = (definition.status.conditions ?? []).filter(({ type }) => type !== TYPE);
  return patchStatus(
    CustomResourceDefinition,
    { metadata: definition.metadata },
    {
      type: 'merge',
      changes: { metadata: { uid, resourceVersion }, status: { ...changes, conditions: [...others, condition] } },
    },
  );
}
