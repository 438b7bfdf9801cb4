/** Columns of the tables of custom kinds. */
import { shortJson } from '../../schema/short-json.ts';
import { age, type Column, name } from '../columns/column.ts';
import { elapsed } from '../columns/elapsed.ts';
import type { CustomResourceVersion } from '../groups/extension/apiextensions/definition-fields.ts';
import { type JsonPath, jsonPath } from './json-path.ts';

type Definition = NonNullable<CustomResourceVersion['additionalPrinterColumns']>[number];

/** Number of values that all cells of a row may look at, and minimum for each cell, however many there are. */
const MAX_ROW_LOOKS = 50_000;
const MIN_CELL_LOOKS = 100;

/** The name and the columns of a version; without any, the age. */
export function customColumns({ additionalPrinterColumns: columns = [] }: CustomResourceVersion): readonly Column[] {
  if (columns.length === 0) return [name, age];
  const looks = Math.max(MIN_CELL_LOOKS, Math.floor(MAX_ROW_LOOKS / columns.length));
  return [name, ...columns.map((column) => columnOf(column, looks))];
}

function columnOf(definition: Definition, looks: number): Column {
  const { name, type, format, description = '', priority = 0, jsonPath: path } = definition;
  const read = jsonPath(path, looks);
  const text = description || `Custom resource definition column (in JSONPath format): ${path}`;
  const common = { name, description: text, priority, ...(format ? { format } : {}) };
  if (type === 'date') {
    return { ...common, type, cell: (object, now) => dateCell(read, object, now) };
  }
  // Numbers with a fraction are shown as text by clients anyway.
  const shown = type === 'number' ? 'number' : (type as Column['type']);
  return { ...common, type: shown as Column['type'], cell: (object) => cellOf(read, type, object) };
}

function dateCell(read: JsonPath | undefined, object: unknown, now: number): string | null {
  const [value] = read?.(object) ?? [];
  if (value === undefined || value === null) return null;
  return typeof value === 'string' && Number.isFinite(Date.parse(value)) ? elapsed(value, now) : '<invalid>';
}

const MAX_CELL_CHARACTERS = 1024;

/** Returns the value of a cell; null if the object has none, or one of another type. */
function cellOf(read: JsonPath | undefined, type: string, object: unknown): string | number | boolean | null {
  const values = read?.(object) ?? [];
  const [value] = values;
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'integer':
      if (typeof value === 'number') return Math.trunc(value);
      return typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    default:
      return joined(values);
  }
}

/** Looks at no more values than are shown: a path may find thousands, each as large as the object. */
function joined(values: readonly unknown[]): string {
  let text = textOf(values[0]);
  for (let i = 1; i < values.length && text.length < MAX_CELL_CHARACTERS; i++) text += ` ${textOf(values[i])}`;
  return text.slice(0, MAX_CELL_CHARACTERS);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : shortJson(value);
}
