/** Metadata of objects as another server wrote them: nothing is certain about its types. */
import { ApiError } from '../../base/errors.ts';
import { isTree, type Tree } from '../../base/json/tree.ts';
import type { ListMeta } from './transport.ts';

const TEXTS = ['name', 'namespace', 'uid', 'resourceVersion', 'deletionTimestamp'] as const;
const REFERENCE_TEXTS = ['apiVersion', 'kind', 'name', 'uid'] as const;

const isText = (value: unknown) => typeof value === 'string';
const isOptionalText = (value: unknown) => value === undefined || isText(value);

/** Throws an ApiError unless what controllers read of the metadata has the right types. Fields that are null are removed. */
export function checkMetadata(object: unknown): void {
  const metadata = isTree(object) ? object.metadata : undefined;
  if (!isTree(metadata)) throw malformed('metadata');
  for (const [key, value] of Object.entries(metadata)) if (value === null) Reflect.deleteProperty(metadata, key);
  for (const field of TEXTS) if (!isOptionalText(metadata[field])) throw malformed(`metadata.${field}`);
  const { finalizers = [], ownerReferences = [] } = metadata;
  if (!Array.isArray(finalizers) || !finalizers.every(isText)) throw malformed('metadata.finalizers');
  if (!Array.isArray(ownerReferences) || !ownerReferences.every(isReference)) {
    throw malformed('metadata.ownerReferences');
  }
}

/** The metadata of a list, which some servers leave out. */
export function checkVersion(metadata: unknown): ListMeta {
  const { resourceVersion, continue: next, remainingItemCount } = isTree(metadata) ? metadata : ({} as Tree);
  return {
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    ...(typeof next === 'string' && next ? { continue: next } : {}),
    ...(typeof remainingItemCount === 'number' ? { remainingItemCount } : {}),
  };
}

function isReference(value: unknown): boolean {
  return isTree(value) && REFERENCE_TEXTS.every((field) => isText(value[field]));
}

function malformed(field: string): ApiError {
  return new ApiError('InternalError', `the aggregated API server sent an object with malformed ${field}`);
}
