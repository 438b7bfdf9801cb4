/** The EndpointSlices of a service, each of which is managed by one controller. */
import { EndpointSlice } from '../../../kinds/groups/discovery/endpoint-slice.ts';
import { type Related, related, type Snapshot } from '../../loop/define.ts';
import type { Slice } from './slice-packing.ts';

export const SERVICE_NAME = 'kubernetes.io/service-name';
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';

/** Related kind for a controller's `also`: slices wake their service. */
export const slicesManagedBy = (manager: string): Related =>
  related(EndpointSlice, (slice) => (isManagedBy(slice, manager) ? serviceOf(slice) : []));

/** The slices of the service that is planned for. */
export function slicesOf({ of, key }: Pick<Snapshot, 'of' | 'key'>, manager: string): readonly Slice[] {
  return of(EndpointSlice)
    .by(serviceOf, `${key.namespace}/${key.name}`)
    .filter((slice) => isManagedBy(slice, manager) && !slice.metadata.deletionTimestamp);
}

function isManagedBy({ metadata }: Slice, manager: string): boolean {
  return metadata.labels?.[MANAGED_BY] === manager;
}

/** Returns the keys of the slice's service. Also serves as an index. */
function serviceOf({ metadata }: Slice): readonly string[] {
  const name = metadata.labels?.[SERVICE_NAME];
  return name ? [`${metadata.namespace}/${name}`] : [];
}
