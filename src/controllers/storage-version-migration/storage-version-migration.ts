/** Carries out StorageVersionMigrations. */

import { isApiError } from '../../api/errors.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import {
  CustomResourceDefinition,
  type CustomResourceDefinition as Definition,
} from '../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import { StorageVersionMigration } from '../../kinds/groups/storage/migration/storage-version-migration.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import {
  type Controller,
  defineController,
  type Listers,
  type ReadTools,
  related,
  type Snapshot,
} from '../loop/define.ts';
import { type Action, type Named, type Plan, patch, patchStatus, requeueAfter, updateStatus } from '../loop/plan.ts';
import type { KindsOptions } from '../shared/aggregated-kinds.ts';
import { conditionOf, holds, withConditions } from '../shared/conditions.ts';
import { olderFirst } from '../shared/ownership.ts';

/** Time that a resource may stay unknown: its definition may not have arrived yet. */
const UNKNOWN_RESOURCE_MS = 60_000;
const RETRY_MS = 5_000;

export function storageVersionMigrationController({ kinds }: KindsOptions): Controller {
  return defineController<StorageVersionMigration, MigratedResource>({
    name: 'storage-version-migrator',
    account: 'storage-version-migrator-controller',
    watches: StorageVersionMigration,
    also: [related(StorageVersionMigration, waitingFor)],
    observe: async (migration, _, { client, signal }) =>
      migration && !isEnded(migration) ? resourceOf(migration, { client, signal, kinds }) : NO_RESOURCE,
    plan: planMigration,
  });
}

type Migration = DeepReadonly<StorageVersionMigration>;

/** Returns the migrations that may proceed when this one has ended. */
function waitingFor(migration: Migration, { of }: Listers): string[] {
  if (!isEnded(migration)) return [];
  const rivals = of(StorageVersionMigration)
    .list()
    .filter((other) => isRival(other, migration));
  return rivals.filter((other) => !isEnded(other)).map(({ metadata }) => metadata.name ?? '');
}

export function planMigration(
  migration: Migration | undefined,
  { observed, failures, of }: Pick<Snapshot<MigratedResource>, 'observed' | 'failures' | 'of'>,
  now: Date,
): Plan {
  if (!migration || isEnded(migration) || waits(migration, of(StorageVersionMigration).list())) return [];
  const { kind, outdated, resourceVersion } = observed;
  const definition = observed.definition as DeepReadonly<Definition> | undefined;
  if (!kind) return unknownResource(migration, now);
  if (!isMigratable(kind)) {
    const resource = `${kind.hub.apiVersion}, Resource=${kind.plural}`;
    return [
      failed(migration, `resource "${resource}" does not support discovery operations: [update patch list]`, now),
    ];
  }
  const failure = failures.find(({ error }) => !isHarmless(error));
  if (failure) {
    return [
      ...(definition ? [endMigration(definition, false, now)] : []),
      failed(migration, `migration encountered unhandled error: ${failure.error.message}`, now),
    ];
  }
  if (!migration.status.resourceVersion) {
    return [
      ...(definition ? [beginMigration(definition, migration.metadata.name ?? '', now)] : []),
      withStatus(migration, [RUNNING], { now, resourceVersion }),
    ];
  }
  return [
    ...outdated.map((object) => writeAgain(kind, object)),
    ...(definition ? [endMigration(definition, true, now)] : []),
    withStatus(migration, [SUCCEEDED, ENDED], { now }),
  ];
}

const RUNNING = { type: 'Running', status: 'True', reason: 'MigrationRunning', message: 'The migration is running' };
const ENDED = { type: 'Running', status: 'False', reason: 'MigrationCompleted', message: 'Migration completed' };
const SUCCEEDED = { type: 'Succeeded', status: 'True', reason: 'StorageVersionMigrationSucceeded', message: '' };

/** Writes the object unchanged, so that it is stored in the present version. Fails if it has changed since. */
function writeAgain(kind: Kind, object: MigratedResource['outdated'][number]): Action {
  const { uid, resourceVersion } = object.metadata;
  return patch(kind, object, { type: 'merge', changes: { metadata: { uid, resourceVersion } } });
}

/** Reports whether another plan handles the error: the object has changed, or the server is busy or stops. */
function isHarmless(error: Error): boolean {
  return isApiError(
    error,
    ...([
      'Conflict',
      'NotFound',
      'ServerTimeout',
      'TooManyRequests',
      'ServiceUnavailable',
      'InternalError',
      'Timeout',
    ] as const),
  );
}

function unknownResource(migration: Migration, now: Date): Plan {
  const since = Date.parse(migration.metadata.creationTimestamp ?? '');
  if (now.getTime() < since + UNKNOWN_RESOURCE_MS) return [requeueAfter(RETRY_MS)];
  return [failed(migration, 'resource does not exist in discovery', now)];
}

function failed(migration: Migration, message: string, now: Date): Action {
  const failure = { type: 'Failed', status: 'True', reason: 'StorageVersionMigrationFailed', message };
  return withStatus(migration, [failure, ENDED], { now });
}

function withStatus(
  migration: Migration,
  changed: readonly (typeof RUNNING)[],
  { now, ...changes }: { readonly now: Date; readonly resourceVersion?: string },
): Action {
  const conditions = withConditions(migration.status.conditions, changed, now);
  const status = { ...migration.status, ...changes, conditions } as StorageVersionMigration['status'];
  return updateStatus(StorageVersionMigration, { ...migration, status });
}

/** Migrations of one resource run one at a time, the oldest first. */
function waits(migration: Migration, all: readonly Migration[]): boolean {
  if (holds(migration, 'Running')) return false;
  const before = (other: Migration) => holds(other, 'Running') || olderFirst(other, migration) < 0;
  return all.some((other) => isRival(other, migration) && !isEnded(other) && before(other));
}

function isRival(other: Migration, migration: Migration): boolean {
  const { group, resource } = migration.spec.resource;
  const { spec, metadata } = other;
  return (
    metadata.uid !== migration.metadata.uid && spec.resource.group === group && spec.resource.resource === resource
  );
}

/** Succeeded or failed. */
function isEnded({ status }: Migration): boolean {
  return status.conditions?.some(({ type, status: is }) => is === 'True' && type !== 'Running') ?? false;
}

const TYPE = 'StorageMigrating';

/** Marks the definition of a kind whose objects are being written again. */
function beginMigration(definition: DeepReadonly<Definition>, name: string, now: Date): Action {
  const condition = { status: 'True', reason: 'MigrationRunning', message: `Migration ${name} is running` };
  return statusPatch(definition, condition, now);
}

/**
 * Says how the migration has ended. After a success, the definition forgets the versions in which nothing is stored, unless
 * it has changed meanwhile: objects may then have been stored in another version.
 */
function endMigration(definition: DeepReadonly<Definition>, isSuccess: boolean, now: Date): Action {
  if (!isSuccess) {
    return statusPatch(
      definition,
      { status: 'False', reason: 'MigrationFailed', message: 'The migration has failed' },
      now,
    );
  }
  const { metadata, spec } = definition;
  const isSame = conditionOf(definition, TYPE)?.observedGeneration === metadata.generation;
  const outcome = isSame
    ? 'and the stored versions have been updated'
    : 'but the stored versions have not been updated due to a generation mismatch';
  const message = `The migration has succeeded ${outcome}`;
  const stored = spec.versions.filter(({ storage }) => storage).map(({ name }) => name);
  const condition = { status: 'False', reason: 'MigrationSucceeded', message };
  return statusPatch(definition, condition, now, isSame ? { storedVersions: stored } : {});
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

export interface MigratedResource {
  readonly kind: Kind | undefined;
  readonly resourceVersion: string;
  /** The objects that were not written since the migration began. */
  readonly outdated: readonly Named[];
  /** Definition of the custom kind as it was before its objects were listed; undefined for a built-in kind. */
  readonly definition: DeepReadonly<KubeObject & { spec: unknown; status: unknown }> | undefined;
}

export const NO_RESOURCE: MigratedResource = {
  kind: undefined,
  resourceVersion: '',
  outdated: [],
  definition: undefined,
};

const PAGE_OBJECTS = 500;

const REQUIRED_VERBS = ['update', 'patch', 'list'] as const;

/** Reports whether objects of the kind can be written again. */
function isMigratable({ verbs }: Kind): boolean {
  return !verbs || REQUIRED_VERBS.every((verb) => verbs.includes(verb));
}

async function resourceOf(
  { spec, status }: DeepReadonly<StorageVersionMigration>,
  { client, signal, kinds }: ReadTools & KindsOptions,
): Promise<MigratedResource> {
  const { group, resource } = spec.resource;
  const kind = [...kinds()].find((each) => each.group === group && each.plural === resource);
  if (!kind || !isMigratable(kind)) return { ...NO_RESOURCE, kind };
  const resources = client.of<KubeObject>(kind);
  const began = status.resourceVersion;
  const definition = await definitionOf(kind, { client, signal });
  if (!began) {
    const { metadata } = await resources.list({ limit: 1, metadataOnly: true, signal });
    return { ...NO_RESOURCE, kind, resourceVersion: metadata.resourceVersion, definition };
  }
  const { items, metadata } = await resources.listAll({ limit: PAGE_OBJECTS, metadataOnly: true, signal });
  const outdated = items.filter((object) => Number(object.metadata.resourceVersion) <= Number(began));
  return { kind, resourceVersion: metadata.resourceVersion, outdated, definition };
}

async function definitionOf({ group, plural }: Kind, { client, signal }: ReadTools) {
  if (!group.includes('.')) return undefined;
  return client.of(CustomResourceDefinition).find(`${plural}.${group}`, { signal });
}
