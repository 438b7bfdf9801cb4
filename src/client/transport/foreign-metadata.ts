/** Checks the metadata of objects from another server, whose types are not guaranteed. */
import { ApiError } from '../../api/errors.ts';
import { isTree, type Tree } from '../../base/json/tree.ts';
import type { ListMeta } from './transport.ts';

const REFERENCE_TEXTS = ['apiVersion', 'kind', 'name', 'uid'] as const;

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isReference: Check = (value) => isTree(value) && REFERENCE_TEXTS.every((field) => isText(value[field]));
const optional =
  (isRight: Check): Check =>
  (value) =>
    value === undefined || isRight(value);
const listOf = (isRight: Check) => optional((value) => Array.isArray(value) && value.every(isRight));
const texts = optional((value) => isTree(value) && Object.values(value).every(isText));

/** The metadata fields that controllers read. */
const FIELDS: Readonly<Record<string, Check>> = {
  name: optional(isText),
  namespace: optional(isText),
  uid: optional(isText),
  resourceVersion: optional(isText),
  deletionTimestamp: optional(isText),
  labels: texts,
  annotations: texts,
  finalizers: listOf(isText),
  ownerReferences: listOf(isReference),
};

/** Throws an ApiError unless the metadata fields that controllers read are well typed. Removes null fields. */
export function checkMetadata(object: unknown, peer: string): void {
  const field = malformedField(object);
  if (field) throw new ApiError('InternalError', `${peer} sent an object with malformed ${field}`);
}

function malformedField(object: unknown): string | undefined {
  const metadata = isTree(object) ? object.metadata : undefined;
  if (!isTree(metadata)) return 'metadata';
  for (const [key, value] of Object.entries(metadata)) if (value === null) Reflect.deleteProperty(metadata, key);
  const wrong = Object.entries(FIELDS).find(([field, isRight]) => !isRight(metadata[field]));
  return wrong && `metadata.${wrong[0]}`;
}

/** Checks the metadata of a list, which some servers leave out. */
export function checkVersion(metadata: unknown): ListMeta {
  const { resourceVersion, continue: next, remainingItemCount } = isTree(metadata) ? metadata : ({} as Tree);
  return {
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    continue: typeof next === 'string' && next ? next : undefined,
    remainingItemCount: typeof remainingItemCount === 'number' ? remainingItemCount : undefined,
  };
}
