/** Carries out StorageVersionMigrations. */
import { isApiError } from '../../api/errors.ts';
import type { DeepReadonly } from '../../api/object-types.ts';
import type { CustomResourceDefinition as Definition } from '../../kinds/groups/extension/apiextensions/custom-resource-definition.ts';
import { StorageVersionMigration } from '../../kinds/groups/storage/migration/storage-version-migration.ts';
import type { Kind } from '../../kinds/kind.ts';
import { type Controller, defineController, type Listers, related, type Snapshot } from '../loop/define.ts';
import { type Action, type Plan, patch, requeueAfter, updateStatus } from '../loop/plan.ts';
import { withConditions } from '../shared/conditions.ts';
import { beginMigration, endMigration } from './definition-status.ts';
import { isMigratable, type MigratedResource, NO_RESOURCE, resourceOf } from './outdated-objects.ts';

/** Time that a resource may stay unknown: its definition may not have arrived yet. */
const UNKNOWN_RESOURCE_MS = 60_000;
const RETRY_MS = 5_000;

export interface StorageVersionMigrationOptions {
  /** The kinds that are currently served; they change at run time. */
  readonly kinds: () => Iterable<Kind>;
}

export function storageVersionMigrationController({ kinds }: StorageVersionMigrationOptions): Controller {
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

/**
 * Writes the object unchanged, so that the server stores it in its present version. Fails if another client has written
 * or deleted it.
 */
function writeAgain(kind: Kind, object: MigratedResource['outdated'][number]): Action {
  const { uid, resourceVersion } = object.metadata;
  return patch(kind, object, { type: 'merge', changes: { metadata: { uid, resourceVersion } } });
}

/**
 * Reports whether another plan handles the error: a changed or deleted object needs no migration, and a server that is
 * busy or stops is asked again.
 */
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
  if (has(migration, 'Running')) return false;
  const before = (other: Migration) => has(other, 'Running') || compareAge(other, migration) < 0;
  return all.some((other) => isRival(other, migration) && !isEnded(other) && before(other));
}

function isRival(other: Migration, migration: Migration): boolean {
  const { group, resource } = migration.spec.resource;
  const { spec, metadata } = other;
  return (
    metadata.uid !== migration.metadata.uid && spec.resource.group === group && spec.resource.resource === resource
  );
}

function compareAge({ metadata: a }: Migration, { metadata: b }: Migration): number {
  const age = Date.parse(a.creationTimestamp ?? '') - Date.parse(b.creationTimestamp ?? '');
  if (age !== 0) return age;
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1;
}

/** Succeeded or failed. */
function isEnded({ status }: Migration): boolean {
  return status.conditions?.some(({ type, status: is }) => is === 'True' && type !== 'Running') ?? false;
}

function has({ status }: Migration, type: 'Running'): boolean {
  return status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
