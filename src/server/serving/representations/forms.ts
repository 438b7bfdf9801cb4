/** The forms in which a client can request replies about objects, and the verbs that support them. */
import { ApiError, badRequest } from '../../../api/errors.ts';
import type { Verb } from '../../../kinds/kind.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { Resource } from '../../objects/registry/registry.ts';

export interface ObjectForm {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly group: 'meta.k8s.io';
  readonly version: 'v1' | 'v1beta1';
  /** True when the form is available in protobuf, unlike tables. */
  readonly protobuf?: boolean;
}

export interface ObjectOffers {
  readonly forms: readonly ObjectForm[];
  readonly protobuf: boolean;
}

const kinds = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;
const versions = ['v1', 'v1beta1'] as const;

/** The forms available wherever objects are served. */
export const objectForms: readonly ObjectForm[] = kinds.flatMap((kind) =>
  versions.map((version) =>
    Object.freeze({ kind, group: 'meta.k8s.io', version, protobuf: kind !== 'Table' } as const),
  ),
);
const formsWithoutTable: readonly ObjectForm[] = objectForms.filter(({ kind }) => kind !== 'Table');
const formsInText: readonly ObjectForm[] = objectForms.map((form) => Object.freeze({ ...form, protobuf: false }));

const offersOf = (forms: readonly ObjectForm[], protobuf: boolean): ObjectOffers => Object.freeze({ forms, protobuf });

/** Offers for kinds with a protobuf form, and for others, whose metadata alone has one. WebSockets carry only text. */
const withTable = { protobuf: offersOf(objectForms, true), other: offersOf(objectForms, false) };
const withoutTable = { protobuf: offersOf(formsWithoutTable, true), other: offersOf(formsWithoutTable, false) };
export const textOffers: ObjectOffers = offersOf(formsInText, false);

/** Returns the offers for objects of a resource. `hasTable`: whether the reply can be shown as rows. */
export function offersFor(hasProtobuf: boolean, hasTable: boolean): ObjectOffers {
  return (hasTable ? withTable : withoutTable)[hasProtobuf ? 'protobuf' : 'other'];
}

/** Reports whether objects of a kind can be rows: a review, which is not stored, has no name for the first column. */
export function hasRows({ kind: { verbs } }: Resource): boolean {
  return !verbs || verbs.includes('get') || verbs.includes('list');
}

/** The part of its object that a row of a table includes besides the cells. */
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

/** Throws NotAcceptable for a form that a reply to the verb cannot have. Called before the request is served. */
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

export interface Shaping {
  readonly form: ObjectForm;
  readonly include: IncludeObject;
  readonly resource: Resource;
  /** Returns the current time in milliseconds since the epoch, to compute ages. */
  readonly now: () => number;
}
