import { MAX_QUOTED_CHARACTERS, shortJson } from './short-json.ts';

/** An error about one field, with the message of the API. A path is like `spec.ports[0].name`; '' is the value itself. */
export interface FieldError {
  readonly reason: FieldErrorReason;
  readonly field: string;
  /** The message without the field: `Invalid value: -1: must be greater than or equal to 0`. */
  readonly message: string;
}

type FieldErrorReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError';

function show(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return shortJson(value);
}

/** Limit for details, some of which repeat the value. */
const MAX_DETAIL_CHARACTERS = 4_000;

const cut = (text: string, characters = MAX_DETAIL_CHARACTERS) =>
  text.length > characters ? `${text.slice(0, characters)}...` : text;

const error = (reason: FieldErrorReason, field: string, head: string, detail?: string): FieldError => ({
  reason,
  field,
  message: detail ? `${head}: ${detail}` : head,
});

export const required = (field: string, detail = '') => error('FieldValueRequired', field, 'Required value', detail);

export const invalid = (field: string, value: unknown, detail: string) =>
  error('FieldValueInvalid', field, `Invalid value: ${show(value)}`, cut(detail));

/** An invalid value that is too large to be shown. */
export const omitted = (field: string, detail: string) =>
  error('FieldValueInvalid', field, 'Invalid value', cut(detail));

/** An invalid value that Kubernetes shows in the syntax of Go. */
export const invalidGoValue = (field: string, shown: string, detail: string) =>
  error('FieldValueInvalid', field, `Invalid value: ${cut(shown, MAX_QUOTED_CHARACTERS)}`, cut(detail));

/** A value of another type; `value` is the value, or the name of its type. */
export const typeInvalid = (field: string, value: unknown, detail: string) =>
  error('FieldValueTypeInvalid', field, `Invalid value: ${show(value)}`, cut(detail));

export const notSupported = (field: string, value: unknown, supported: readonly string[]) =>
  error(
    'FieldValueNotSupported',
    field,
    `Unsupported value: ${show(value)}`,
    supported.length ? `supported values: ${supported.map((word) => JSON.stringify(word)).join(', ')}` : '',
  );

export const duplicate = (field: string, value: unknown) =>
  error('FieldValueDuplicate', field, `Duplicate value: ${show(value)}`);

export const forbidden = (field: string, detail: string) => error('FieldValueForbidden', field, 'Forbidden', detail);

export const notFound = (field: string, value: unknown) =>
  error('FieldValueNotFound', field, `Not found: ${show(value)}`);

export const tooLong = (field: string, limit: number) =>
  error('FieldValueTooLong', field, 'Too long', `may not be more than ${limit} bytes`);

export const tooMany = (field: string, count: number, limit: number) =>
  error('FieldValueTooMany', field, `Too many: ${count}`, `must have at most ${limit} items`);

/** Joins two parts of a path; the second may start with an index such as `[0]`. */
export function joinPath(head: string, tail: string): string {
  if (!head) return tail;
  if (!tail) return head;
  return tail.startsWith('[') ? head + tail : `${head}.${tail}`;
}

/** The errors of a part with paths relative to the whole. */
export function under(step: string, errors: readonly FieldError[]): FieldError[] {
  return errors.map((each) => ({ ...each, field: joinPath(step, each.field) }));
}
