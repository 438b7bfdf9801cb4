import { s } from '../../../schema/builders.ts';
import { type FieldError, under } from '../../../schema/field-error.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, name, type Sparse } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';
import { ResourceClaimStatus } from './claim-status.ts';
import { claimStatusRules } from './claim-status-rules.ts';
import { ResourceClaimSpec } from './device-claim.ts';
import { deviceClaimRules, requestNames } from './device-claim-rules.ts';
import { deviceKey } from './devices/device-names.ts';

const fields = { spec: s.use(ResourceClaimSpec, { zero: true, immutable: true }), status: ResourceClaimStatus };

export type ResourceClaim = KubeObject & ObjectType<typeof fields>;

/** Requests devices for pods. */
export const ResourceClaim = defineKind({
  kind: 'ResourceClaim',
  scope: 'Namespaced',
  description:
    'Requests devices, such as GPUs or network interfaces, for use by one or several pods. The scheduler allocates devices that match; pods refer to the claim in spec.resourceClaims.',
  versions: { 'resource.k8s.io/v1': {} },
  fields,
  resetFields: { status: ['metadata'] },
  subresources: { status: true },
  onStatusUpdate: dropDeallocatedDevices,
  rules: [specRules, statusRules],
  columns: ({ text }) => [name, text('State', 'Whether devices are allocated, and reserved for pods.', stateText), age],
});

/** Checked on create only, because the spec is immutable. */
function specRules({ spec }: ResourceClaim, { operation }: RuleContext): FieldError[] {
  return operation === 'create' ? under('spec.devices', deviceClaimRules(spec.devices)) : [];
}

function statusRules(
  { metadata, spec, status }: ResourceClaim,
  { oldRoot, subresource }: RuleContext<ResourceClaim, ResourceClaim>,
): FieldError[] {
  if (subresource !== 'status') return [];
  const requests = requestNames(spec.devices.requests);
  const isDeleted = metadata.deletionTimestamp !== undefined;
  return under('status', claimStatusRules(status, { old: oldRoot?.status, requests, isDeleted }));
}

/** A hook: drops the status of devices that are no longer allocated. */
function dropDeallocatedDevices(claim: ResourceClaim, old: ResourceClaim): void {
  const { devices, ...status } = claim.status;
  if (!devices) return;
  const now = new Set(allocatedKeys(claim));
  const gone = new Set(allocatedKeys(old).filter((key) => !now.has(key)));
  const left = devices.filter((device) => !gone.has(deviceKey(device)));
  claim.status = left.length ? { ...status, devices: left } : status;
}

function allocatedKeys({ status }: ResourceClaim): string[] {
  return (status.allocation?.devices.results ?? []).map(deviceKey);
}

function stateText({ metadata, status }: Sparse<ResourceClaim>): string {
  const deleted = Boolean(metadata?.deletionTimestamp);
  if (!status?.allocation) return deleted ? 'deleted' : 'pending';
  const words = ['allocated', ...(status.reservedFor?.length ? ['reserved'] : [])];
  return (deleted ? ['deleted', ...words] : words).join(',');
}
