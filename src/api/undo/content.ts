/** The part of an object that clients write, and that an undo brings back. */
import type { KubeObject } from '../../kinds/kind.ts';
import { withoutMark } from './undo-mark.ts';

type Metadata = KubeObject['metadata'];

/** Metadata that the server assigns. */
const ASSIGNED = [
  ...['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'selfLink', 'managedFields'],
  ...['deletionTimestamp', 'deletionGracePeriodSeconds'],
];

/** The object without its status, without what the server assigns, and without annotations that go with the status. */
export function clientContent(object: KubeObject): object {
  const { status: _, metadata, ...rest } = withoutMark(object) as KubeObject & { status?: unknown };
  const { annotations, ...own } = omitted(metadata, (key) => ASSIGNED.includes(key)) as Metadata;
  const ofStatus = statusAnnotations(metadata);
  const kept = omitted(annotations ?? {}, (key) => ofStatus.has(key));
  return { ...rest, metadata: { ...own, ...(Object.keys(kept).length > 0 ? { annotations: kept } : {}) } };
}

/** The object with the content of an earlier state: identity, status and the annotations of that stay as they are. */
export function withContent(
  now: KubeObject,
  content: object,
  annotations: Readonly<Record<string, string>>,
): KubeObject {
  const { metadata: wanted = {}, ...rest } = content as { metadata?: Metadata };
  const { status, metadata } = now as KubeObject & { status?: unknown };
  const ofStatus = statusAnnotations(metadata);
  const kept = omitted(metadata.annotations ?? {}, (key) => !ofStatus.has(key));
  // Without managed fields, the server keeps the present ones, and takes over what this write changes.
  const assigned = omitted(metadata, (key) => !ASSIGNED.includes(key) || key === 'managedFields');
  return {
    ...rest,
    metadata: { ...assigned, ...wanted, annotations: { ...wanted.annotations, ...kept, ...annotations } },
    ...(status === undefined ? {} : { status }),
  } as KubeObject;
}

/**
 * The annotations that were written with the status, such as the revision of a Deployment: a controller follows up with them
 * after each change, so they are no change of their own.
 */
function statusAnnotations({ managedFields = [] }: Metadata): ReadonlySet<string> {
  const keys = managedFields
    .filter(({ subresource }) => subresource === 'status')
    .flatMap(({ fieldsV1 }) => Object.keys(annotationFields(fieldsV1)));
  return new Set(keys.filter((key) => key.startsWith('f:')).map((key) => key.slice('f:'.length)));
}

function annotationFields(fieldsV1: unknown): object {
  const fields = fieldsV1 as { 'f:metadata'?: { 'f:annotations'?: object } } | undefined;
  return fields?.['f:metadata']?.['f:annotations'] ?? {};
}

function omitted(object: object, isOmitted: (key: string) => boolean): Record<string, never> {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !isOmitted(key))) as Record<string, never>;
}
