/** Rules for the spec of a claim, in the claim itself and in the template of an ephemeral volume. */
import { addAll } from '../../../base/collections/add-all.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { type FieldError, invalid, notSupported, required, under } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../schema/names.ts';
import type { PersistentVolumeClaimSpec } from './persistent-volume-claim-spec.ts';
import { accessModes, positive, volumeModes } from './storage.ts';

/** Paths are relative to the spec. */
export function claimSpec(spec: PersistentVolumeClaimSpec): FieldError[] {
  return [
    ...(spec.accessModes?.length
      ? under('accessModes', accessModes(spec.accessModes))
      : [required('accessModes', 'at least 1 access mode is required')]),
    ...size(spec),
    ...className('storageClassName', spec.storageClassName),
    ...(volumeModes.some((mode) => mode === spec.volumeMode)
      ? []
      : [notSupported('volumeMode', spec.volumeMode, volumeModes)]),
    ...sources(spec),
    ...className('volumeAttributesClassName', spec.volumeAttributesClassName),
  ];
}

function size({ resources }: PersistentVolumeClaimSpec): FieldError[] {
  const wanted = resources.requests?.storage;
  return wanted === undefined ? [required('resources[storage]')] : under('resources[storage]', positive(wanted));
}

function className(field: string, name: string | undefined): FieldError[] {
  return name ? dnsSubdomain(name).map((each) => invalid(field, name, each)) : [];
}

interface Source {
  apiGroup?: string;
  kind: string;
  name: string;
  namespace?: string;
}

function sources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec): FieldError[] {
  const errors = [
    ...(dataSource ? under('dataSource', source(dataSource)) : []),
    ...(dataSourceRef ? under('dataSourceRef', source(dataSourceRef)) : []),
  ];
  if (!dataSource || !dataSourceRef) return errors;
  const { namespace, ...local } = dataSourceRef;
  if (namespace)
    errors.push(invalid('', 'dataSource', 'may not be specified when dataSourceRef.namespace is specified'));
  else if (!deepEqual(local, dataSource)) errors.push(invalid('', 'dataSource', 'must match dataSourceRef'));
  return errors;
}

function source({ apiGroup = '', kind, name, namespace }: Source): FieldError[] {
  const errors: FieldError[] = [];
  if (!name) errors.push(required('name'));
  if (!kind) errors.push(required('kind'));
  if (!apiGroup && kind !== 'PersistentVolumeClaim') {
    errors.push(invalid('', kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (apiGroup)
    addAll(
      errors,
      dnsSubdomain(apiGroup).map((each) => invalid('apiGroup', apiGroup, each)),
    );
  if (namespace)
    addAll(
      errors,
      dnsLabel(namespace).map((each) => invalid('namespace', namespace, each)),
    );
  return errors;
}
