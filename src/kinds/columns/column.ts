/**
 * What a table tells of an object, column by column. A kind lists its columns; this folder holds the ones that many kinds
 * have, and what their cells have in common: times, containers, selectors, long lists.
 *
 * Cells read the stored version's shape. They must cope with every part of it missing, as a bookmark of a watch has
 * nothing but metadata, and they take the time from the caller.
 */
import { elapsed } from './elapsed.ts';

type Cell = string | number | boolean | null;

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  /** `name` marks the column that identifies the object. */
  readonly format?: string;
  readonly description: string;
  /** 0 where absent: always shown. From 1 on, only where there is room (`-o wide`). */
  readonly priority?: number;
  readonly cell: CellOf;
}

/**
 * `now` in milliseconds since 1970. A cell that depends on the time must name it as its second parameter: of the others a
 * table keeps what they said until the object changes.
 */
export type CellOf = (object: any, now: number) => Cell;

export function text(name: string, description: string, cell: CellOf): Column {
  return { name, type: 'string', description, cell };
}

/** A whole number; absent is 0. */
export function integer(name: string, description: string, cell: (object: any) => number | undefined): Column {
  return { name, type: 'integer', description, cell: (object) => cell(object) ?? 0 };
}

export function flag(name: string, description: string, cell: (object: any) => boolean): Column {
  return { name, type: 'boolean', description, cell };
}

/** The same column, shown only where there is room. */
export function wide(column: Column): Column {
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

/** The name, and whether it is the one that is used where none is named: an annotation says so. */
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

/** The time itself, as the kinds show it that never had columns of their own. */
export const createdAt: Column = {
  name: 'Created At',
  type: 'date',
  description: CREATED,
  cell: ({ metadata }) => metadata?.creationTimestamp ?? null,
};

/** What a kind has that names no columns. */
export const defaultColumns: readonly Column[] = Object.freeze([name, age]);

/** The marks for what is not there. */
export const NONE = '<none>';
export const UNSET = '<unset>';
export const UNKNOWN = '<unknown>';
