/**
 * Columns of tables. A kind lists its columns; this folder holds those that many kinds have, and the common parts of
 * their cells: times, containers, selectors, long lists.
 *
 * Cells read the stored version's shape. Every part of it may be missing (a bookmark of a watch has nothing but
 * metadata), and they take the time from the caller.
 */
import type { ObjectMeta } from '../shapes/meta/object-meta.ts';
import { elapsed } from './elapsed.ts';

type Cell = string | number | boolean | null;

/** An object of which every part may be missing. */
export type Sparse<T> = T extends readonly (infer I)[]
  ? readonly Sparse<I>[]
  : T extends object
    ? string extends keyof T
      ? Readonly<Record<string, Sparse<T[keyof T]>>>
      : { readonly [K in keyof T]?: Sparse<T[K]> }
    : T;

/** Fields that the columns of every kind can read. */
interface Named {
  metadata: ObjectMeta;
}

export interface Column<T = Named> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  /** `name` marks the column that identifies the object. */
  readonly format?: string;
  readonly description: string;
  /** Priority in wide tables. Absent or 0: always shown. From 1 on, only in wide tables (`-o wide`). */
  readonly priority?: number;
  readonly cell: CellOf<T>;
  /** Reports whether the cell of this object changes with time, if that depends on the object. */
  readonly changes?: { changes(object: Sparse<T>): boolean }['changes'];
}

/**
 * `now` in milliseconds since 1970. A cell that depends on the time must declare it as its second parameter: the values of
 * the others are cached until the object changes.
 */
export type CellOf<T = Named> = { cell(object: Sparse<T>, now: number): Cell }['cell'];

export function text<T = Named>(name: string, description: string, cell: CellOf<T>): Column<T> {
  return { name, type: 'string', description, cell };
}

/** A whole number; absent is 0. */
function integer<T = Named>(
  name: string,
  description: string,
  cell: (object: Sparse<T>) => number | undefined,
): Column<T> {
  return { name, type: 'integer', description, cell: (object) => cell(object) ?? 0 };
}

function flag<T = Named>(name: string, description: string, cell: (object: Sparse<T>) => boolean): Column<T> {
  return { name, type: 'boolean', description, cell };
}

/** Builders of columns that read objects of type `T`: with them, a kind's columns infer the types that they read. */
interface ColumnBuilders<T> {
  text(name: string, description: string, cell: CellOf<T>): Column<T>;
  integer(name: string, description: string, cell: (object: Sparse<T>) => number | undefined): Column<T>;
  flag(name: string, description: string, cell: (object: Sparse<T>) => boolean): Column<T>;
}

/** Columns that are written with the builders for their objects' type. */
export type ColumnList<T> = (builders: ColumnBuilders<T>) => readonly Column<T>[];

export function columnsOf<T>(list: ColumnList<T>): readonly Column<T>[] {
  return list({ text, integer, flag });
}

/** Returns the same column, shown only in wide tables. */
export function wide<T>(column: Column<T>): Column<T> {
  return { ...column, priority: 1 };
}

const NAME = 'The name, which no other object of this kind has in its namespace.';
const CREATED = 'When the object was created.';

export const name: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: NAME,
  cell: ({ metadata }) => metadata?.name ?? '',
};

/** The name, and whether the object is the default of its kind, which one of the annotations marks. */
export function nameAndDefault(...annotations: readonly string[]): Column {
  return {
    ...name,
    cell: ({ metadata }) => {
      const chosen = annotations.some((annotation) => metadata?.annotations?.[annotation] === 'true');
      return `${metadata?.name ?? ''}${chosen ? ' (default)' : ''}`;
    },
  };
}

export const age: Column = text('Age', CREATED, ({ metadata }, now) => elapsed(metadata?.creationTimestamp, now));

/** Shows the creation time itself, as Kubernetes does for kinds without their own columns. */
export const createdAt: Column = {
  name: 'Created At',
  type: 'date',
  description: CREATED,
  cell: ({ metadata }) => metadata?.creationTimestamp ?? null,
};

/** The columns of a kind that lists none. */
export const defaultColumns: readonly Column[] = Object.freeze([name, age]);

/** Text of cells for missing values. */
export const NONE = '<none>';
export const UNSET = '<unset>';
export const UNKNOWN = '<unknown>';
