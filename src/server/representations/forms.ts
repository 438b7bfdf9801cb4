/**
 * Other forms of what the verbs answer, for clients that want to show it or to know that it is there: tables with the
 * columns that a kind describes, and metadata alone. This folder turns replies into them; what a client may ask for is
 * here, how it asks is HTTP's business.
 */
import { ApiError, badRequest } from '../../base/errors.ts';
import type { Verb } from '../../kinds/kind.ts';
import { invalid } from '../../schema/field-error.ts';
import type { Resource } from '../registry.ts';

export interface ObjectForm {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly group: 'meta.k8s.io';
  readonly version: 'v1' | 'v1beta1';
}

const kinds = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;
const versions = ['v1', 'v1beta1'] as const;

/** All that may be asked for where objects are served. */
export const objectForms: readonly ObjectForm[] = kinds.flatMap((kind) =>
  versions.map((version) => Object.freeze({ kind, group: 'meta.k8s.io', version }) satisfies ObjectForm),
);

/** What a row carries of its object beside the cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export function includeOf(asked: string | undefined): IncludeObject {
  switch (asked) {
    case undefined:
    case '':
      return 'Metadata';
    case 'None':
    case 'Metadata':
    case 'Object':
      return asked;
    default: {
      const { field, message } = invalid('includeObject', asked, "must be 'Metadata', 'Object', 'None', or empty");
      throw badRequest(`Unable to convert to Table as requested: ${field}: ${message}`);
    }
  }
}

/** Refuses what no answer to the verb can become, before anything is done. */
export function checkForm({ kind }: ObjectForm, verb: Verb, { kind: asked }: Resource): void {
  if (kind === 'PartialObjectMetadata' && verb === 'list') {
    throw notAcceptable(`you requested PartialObjectMetadata, but the requested object is a list (${asked.listKind})`);
  }
  if (kind === 'PartialObjectMetadataList' && verb !== 'list' && verb !== 'deletecollection') {
    throw notAcceptable(
      `you requested PartialObjectMetadataList, but the requested object is not a list (${asked.kind})`,
    );
  }
}

function notAcceptable(message: string): ApiError {
  return new ApiError('NotAcceptable', message);
}
