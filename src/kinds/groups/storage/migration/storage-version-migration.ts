import { s } from '../../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../../schema/field-error.ts';
import { dns1035Label, dnsSubdomain } from '../../../../schema/names.ts';
import type { ObjectType, RuleContext } from '../../../../schema/schema.ts';
import { name, type Sparse } from '../../../columns/column.ts';
import { defineKind, type KubeObject, type ObjectOf } from '../../../kind.ts';
import { Condition, completeConditions } from '../../../shapes/meta/condition.ts';

const resourceFields = {
  group: s.string('API group of the resource. Empty for the core group.', { zero: true }),
  resource: s.string('Plural name of the resource, such as deployments. Required.', { zero: true }),
};

const fields = {
  spec: s.struct(
    'StorageVersionMigrationSpec',
    'What is migrated. Cannot be changed.',
    {
      resource: s.object('GroupResource', 'The resource whose objects are written again.', resourceFields, {
        zero: true,
        rules: [namesResource],
      }),
    },
    { immutable: true },
  ),
  status: s.struct('StorageVersionMigrationStatus', 'How far the migration is. Written by the controller.', {
    conditions: s.listMap(Condition, 'State of the migration: `Running`, `Succeeded` and `Failed`.', {
      keys: ['type'],
      patch: 'merge',
      rules: [completeConditions],
    }),
    resourceVersion: s.string(
      'Resource version of the resource when the migration began. Objects that were written later are already stored as they should be.',
      { omitZero: true },
    ),
  }),
};
type Fields = KubeObject & ObjectType<typeof fields>;

const ENDS = ['Succeeded', 'Failed'] as const;

/** Requests that every object of a resource is written again, in its present stored version. */
export const StorageVersionMigration = defineKind({
  kind: 'StorageVersionMigration',
  scope: 'Cluster',
  description:
    'Has every object of a resource written again in the version in which the resource is stored today, so that older versions can be removed from its definition.',
  versions: { 'storagemigration.k8s.io/v1beta1': {} },
  fields,
  subresources: { status: true },
  requiresVersion: true,
  rules: [statusMovesForward],
  columns: ({ text }) => [
    name,
    text('Resource', 'Resource that is migrated.', ({ spec }) => resourceText(spec?.resource)),
    text('Status', 'State of the migration.', ({ status }) => stateOf(status)),
  ],
});
export type StorageVersionMigration = ObjectOf<typeof StorageVersionMigration>;

type Status = Fields['status'];

function stateOf(status: Sparse<Status> | undefined): string {
  const last = status?.conditions?.findLast(
    ({ type = '', status: is }) => is === 'True' && ['Running', ...ENDS].includes(type),
  );
  return last?.type ?? 'Unknown';
}

function resourceText({ group = '', resource = '' }: { group?: string; resource?: string } = {}): string {
  return group ? `${resource}.${group}` : resource;
}

function namesResource({ group, resource }: ObjectType<typeof resourceFields>): FieldError[] {
  const complaints = resource ? dns1035Label(resource) : [];
  const found = resource ? [] : [required('resource', 'resource is required to be set')];
  if (complaints.length > 0) found.push(invalid('resource', resource, complaints.join(',')));
  const complaintsOfGroup = group ? dnsSubdomain(group) : [];
  if (complaintsOfGroup.length > 0) found.push(invalid('group', group, complaintsOfGroup.join(',')));
  return found;
}

/** A migration has one start and one end. */
function statusMovesForward({ status }: Fields, { oldRoot }: RuleContext<Fields, Fields>): FieldError[] {
  const found: FieldError[] = [];
  const { resourceVersion = '', conditions = [] } = status ?? {};
  const wrong = (complaint: string) => found.push(invalid('status.conditions', conditions, complaint));
  const before = oldRoot?.status;
  if (resourceVersion && !/^(0|[1-9]\d*)$/.test(resourceVersion)) {
    found.push(
      invalid('status.resourceVersion', resourceVersion, `resource version is not well formed: ${resourceVersion}`),
    );
  }
  if (before?.resourceVersion && before.resourceVersion !== resourceVersion) {
    found.push(invalid('status.resourceVersion', resourceVersion, 'field is immutable'));
  }
  if (has(status, 'Succeeded') && has(status, 'Failed')) {
    wrong('Both success and failed conditions cannot be true at the same time');
  }
  if (has(before, 'Succeeded') && !has(status, 'Succeeded')) {
    wrong('Success condition cannot be set to false once it is true');
  }
  if (has(before, 'Failed') && !has(status, 'Failed')) wrong('Failed condition cannot be set to false once it is true');
  return found;
}

function has(status: Partial<Status> | undefined, type: (typeof ENDS)[number]): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}
