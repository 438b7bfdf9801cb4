/** Builds the desired object of a member from a federated one, and compares it with the actual one. */

import type { AnyObject, DeepReadonly } from '../../api/object-types.ts';
import { clone, deepEqual } from '../../base/json/tree.ts';
import type { FederatedKind } from './kinds/federated-kind.ts';
import { isFederationAnnotation } from './names.ts';

/** Marks objects in members that the federation put there: only these are removed when they no longer belong there. */
export const PROPAGATED = 'federation.kubernetes.io/propagated';

export interface MemberObjectOptions {
  readonly kind: Pick<FederatedKind, 'localize' | 'replicas' | 'isFixedByCreation'>;
  readonly actual: DeepReadonly<AnyObject> | undefined;
  /** Share of the replicas; undefined for a kind without replicas to divide. */
  readonly share?: { readonly replicas: number; readonly before: number } | undefined;
  /** Applies the cluster's differences. */
  readonly override?: (object: AnyObject) => AnyObject;
}

/** Builds the object. Throws an error that explains why the overrides of the cluster cannot be applied. */
export function memberObject(federated: DeepReadonly<AnyObject>, options: MemberObjectOptions): AnyObject {
  const { kind, actual, share, override = (object) => object } = options;
  const { metadata, status: _, ...rest } = clone(federated) as AnyObject;
  const { name, namespace, labels } = metadata;
  const own = Object.entries(metadata.annotations ?? {}).filter(([key]) => !isFederationAnnotation(key));
  const annotations = { ...actual?.metadata.annotations, ...Object.fromEntries(own), [PROPAGATED]: 'true' };
  const { labels: _labels, annotations: _annotations, ...kept } = actual?.metadata ?? {};
  const desired = {
    ...rest,
    metadata: { ...kept, name, ...(namespace ? { namespace } : {}), ...(labels ? { labels } : {}), annotations },
  } as AnyObject;
  if (share) kind.replicas?.set(desired, share.replicas, { actual, before: share.before });
  kind.localize?.(desired, actual);
  return kind.isFixedByCreation && actual ? desired : override(desired);
}

/** Fields that a member and the federation each have their own of. */
const OWN_FIELDS = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/** Reports whether the member has the desired labels, annotations and everything besides metadata and status. */
export function isAsDesired(desired: DeepReadonly<AnyObject>, actual: DeepReadonly<AnyObject>): boolean {
  const { labels = {}, annotations = {} } = desired.metadata;
  if (!deepEqual(labels, actual.metadata.labels ?? {})) return false;
  if (!deepEqual(annotations, actual.metadata.annotations ?? {})) return false;
  const fields = new Set([...Object.keys(desired), ...Object.keys(actual)].filter((field) => !OWN_FIELDS.has(field)));
  return [...fields].every((field) => deepEqual(desired[field] ?? {}, actual[field] ?? {}));
}
