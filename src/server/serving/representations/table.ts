import { memoized } from '../../../base/collections/memoized.ts';
import { type Column, defaultColumns } from '../../../kinds/columns/column.ts';
import { scaleColumns } from '../../../kinds/groups/autoscaling/scale.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import { encodeLasting } from '../../objects/cache/entry/encoding.ts';
import type { Resource } from '../../objects/registry/registry.ts';
import type { IncludeObject } from './forms.ts';
import { JsonWriter } from './json-writer.ts';
import { rowText } from './metadata.ts';
import type { Row, Source } from './source.ts';

export interface TableOptions {
  readonly resource: Resource;
  /** The version of the table itself: `v1` or `v1beta1` of meta.k8s.io. */
  readonly version: string;
  readonly include: IncludeObject;
  /** Current time in milliseconds since the epoch, to compute ages. */
  readonly now: number;
  /** True to include column definitions; in a watch only the first event has them. */
  readonly headers: boolean;
}

/** Estimated size of a row, and of everything before the rows. */
const ROW_BYTES = 1024;
const HEAD_BYTES = 4096;

/** Encodes a table with a row for one object. */
export function tableJson(source: Source, options: TableOptions): Buffer {
  const { resourceVersion = '' } = source.shown.metadata;
  const table = new TableWriter({ resourceVersion }, [source], options);
  table.add(source);
  return table.done();
}

/** Writes a table row by row. `metadata` is that of the list, or the resourceVersion of a single object. */
export class TableWriter {
  /** Rows in the order in which they must be added. */
  readonly rows: readonly Source[];
  readonly #out: JsonWriter;
  readonly #columns: readonly Column[];
  #isFirst = true;

  constructor(
    metadata: object,
    sources: readonly Source[],
    private readonly options: TableOptions,
  ) {
    const { resource, version, headers } = options;
    this.rows = inOrder(resource.kind, sources);
    this.#columns = columnsOf(resource, sources[0]?.shown);
    this.#out = new JsonWriter(HEAD_BYTES + sources.length * ROW_BYTES);
    this.#out.text(`{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)}`);
    this.#out.text(`,"columnDefinitions":${headers ? definitionsJson(this.#columns) : 'null'},"rows":[`);
  }

  add(row: Source): void {
    if (!this.#isFirst) this.#out.text(',');
    this.#isFirst = false;
    writeRow(this.#out, row, this.#columns, this.options);
  }

  done(): Buffer {
    return this.#out.text(']}').done();
  }
}

/** Returns the columns of a kind; a subresource may reply with an object of another kind. */
function columnsOf({ kind, version }: Resource, shown: KubeObject | undefined): readonly Column[] {
  if (!shown || shown.kind === kind.kind) return version.columns ?? kind.columns ?? defaultColumns;
  return shown.kind === 'Scale' ? scaleColumns : defaultColumns;
}

function inOrder({ rows }: Kind, sources: readonly Source[]): readonly Source[] {
  const order = rows?.order;
  return order && sources.length > 1 ? [...sources].sort((a, b) => order(a.stored, b.stored)) : sources;
}

function writeRow(out: JsonWriter, source: Source, columns: readonly Column[], options: TableOptions): void {
  const { changing, parts } = rowOf(source, columns, options);
  for (let i = 0; i < changing.length; i++) {
    const { cell } = columns[changing[i]!]!;
    out.bytes(parts[i]!).text(JSON.stringify(cell(source.stored, options.now)));
  }
  out.bytes(parts[changing.length]!);
  if (options.include === 'Object') out.bytes(source.json()).text('}');
}

/** Returns the row of an object, which is cached for the last requested form. */
function rowOf(source: Source, columns: readonly Column[], { version, include, resource }: TableOptions): Row {
  const form = include === 'Metadata' ? version : include;
  const { view, stored } = source;
  const kept = view?.row;
  if (kept && kept.columns === columns && kept.form === form) return kept;
  const changing = columns.flatMap((column, index) => (changes(column, stored) ? [index] : []));
  const texts = textsOf(stored, columns, changing);
  texts.push(`${texts.pop()}]${conditionsJson(resource.kind, stored)},"object":${endOf(source, form)}`);
  const parts = texts.map((text) => (view ? encodeLasting(text) : Buffer.from(text)));
  const row = { columns, form, changing, parts };
  if (view) view.row = row;
  return row;
}

/** Returns the rest of a row, after `"object":`. An object that is shown in full is not cached again. */
function endOf(source: Source, form: string): string {
  if (form === 'Object') return '';
  return form === 'None' ? 'null}' : `${rowText(source, form)}}`;
}

/** Returns the cells of a row as strings, split at the cells that change with time. */
function textsOf(stored: KubeObject, columns: readonly Column[], changing: readonly number[]): string[] {
  const texts: string[] = [];
  let text = '{"cells":[';
  columns.forEach(({ cell }, index) => {
    if (index > 0) text += ',';
    if (!changing.includes(index)) text += JSON.stringify(cell(stored, Number.NaN));
    else {
      texts.push(text);
      text = '';
    }
  });
  texts.push(text);
  return texts;
}

/** Reports whether a cell changes with time: one that does not declare the time as its second parameter does not. */
function changes(column: Column, stored: KubeObject): boolean {
  return column.cell.length > 1 && (column.changes?.(stored) ?? true);
}

function conditionsJson({ rows }: Kind, stored: KubeObject): string {
  const completion = rows?.completed?.(stored);
  if (!completion) return '';
  return `,"conditions":${JSON.stringify([{ type: 'Completed', status: 'True', ...completion }])}`;
}

/** Column definitions as JSON, which never change. */
const definitionsJson = memoized((columns: readonly Column[]): string =>
  JSON.stringify(
    columns.map(({ name, type, format = '', description, priority = 0 }) => {
      return { name, type, format, description, priority };
    }),
  ),
);
