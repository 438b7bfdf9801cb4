import { type Column, defaultColumns } from '../../kinds/columns/column.ts';
import { scaleColumns } from '../../kinds/groups/autoscaling/scale-columns.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Resource } from '../registry.ts';
import type { IncludeObject } from './forms.ts';
import { JsonWriter } from './json-writer.ts';
import { writePartial } from './metadata.ts';
import type { Row, Source } from './source.ts';

export interface TableOptions {
  readonly resource: Resource;
  /** The version of the table itself: `v1` or `v1beta1` of meta.k8s.io. */
  readonly version: string;
  readonly include: IncludeObject;
  /** In milliseconds since the epoch; ages are relative to it. */
  readonly now: number;
  /** Whether the table has column definitions; in a watch only the first event has. */
  readonly headers: boolean;
}

/** About how much a row takes, and everything before the rows. */
const ROW_BYTES = 1024;
const HEAD_BYTES = 4096;

/** A table with a row for each object. `metadata` is that of the list, or the resourceVersion of a single object. */
export function tableJson(metadata: object, sources: readonly Source[], options: TableOptions): Buffer {
  const { resource, version, headers } = options;
  const first = sources[0]?.shown;
  const columns = columnsOf(resource.kind, first);
  const out = new JsonWriter(HEAD_BYTES + sources.length * ROW_BYTES);
  out.text(`{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)}`);
  out.text(`,"columnDefinitions":${headers ? definitionsJson(columns) : 'null'},"rows":[`);
  const rows = inOrder(resource.kind, sources);
  for (let i = 0; i < rows.length; i++) {
    if (i > 0) out.text(',');
    writeRow(out, rows[i]!, columns, options);
  }
  return out.text(']}').done();
}

/** The columns of a kind; a subresource may reply with an object of another kind. */
function columnsOf({ kind, columns = defaultColumns }: Kind, shown: KubeObject | undefined): readonly Column[] {
  if (!shown || shown.kind === kind) return columns;
  return shown.kind === 'Scale' ? scaleColumns : defaultColumns;
}

function inOrder({ rows }: Kind, sources: readonly Source[]): readonly Source[] {
  const order = rows?.order;
  return order && sources.length > 1 ? [...sources].sort((a, b) => order(a.stored, b.stored)) : sources;
}

function writeRow(out: JsonWriter, source: Source, columns: readonly Column[], options: TableOptions): void {
  const { texts } = source.row(columns, () => rowOf(source.stored, columns, options.resource.kind));
  out.text(texts[0]!);
  timedOf(columns).forEach(({ cell }, index) => {
    out.text(JSON.stringify(cell(source.stored, options.now))).text(texts[index + 1]!);
  });
  writeObject(out, source, options);
  out.text('}');
}

/** The texts of a row around the cells that change with time, up to where the object follows. */
function rowOf(stored: KubeObject, columns: readonly Column[], kind: Kind): Row {
  const texts: string[] = [];
  let text = '{"cells":[';
  columns.forEach((column, index) => {
    if (index > 0) text += ',';
    if (!isTimed(column)) text += JSON.stringify(column.cell(stored, Number.NaN));
    else {
      texts.push(text);
      text = '';
    }
  });
  texts.push(`${text}]${conditionsJson(kind, stored)},"object":`);
  return { columns, texts: texts.map(flattened) };
}

/** A cell that does not declare the time as its second parameter does not depend on it. */
const isTimed = ({ cell }: Column): boolean => cell.length > 1;

const timed = new WeakMap<readonly Column[], readonly Column[]>();

function timedOf(columns: readonly Column[]): readonly Column[] {
  let found = timed.get(columns);
  if (!found) {
    found = columns.filter(isTimed);
    timed.set(columns, found);
  }
  return found;
}

/** Flattens a string: V8 keeps a concatenated one as a tree of its pieces, and this one is kept for long and written often. */
const flattened = (text: string): string => Buffer.from(text).toString();

function conditionsJson({ rows }: Kind, stored: KubeObject): string {
  const completion = rows?.completed?.(stored);
  if (!completion) return '';
  return `,"conditions":${JSON.stringify([{ type: 'Completed', status: 'True', ...completion }])}`;
}

function writeObject(out: JsonWriter, source: Source, { version, include }: TableOptions): void {
  switch (include) {
    case 'None':
      out.text('null');
      return;
    case 'Metadata':
      writePartial(out, source, version);
      return;
    case 'Object':
      out.bytes(source.json());
  }
}

/** Column definitions as JSON, which never change. */
const definitions = new WeakMap<readonly Column[], string>();

function definitionsJson(columns: readonly Column[]): string {
  let json = definitions.get(columns);
  if (json === undefined) {
    json = JSON.stringify(
      columns.map(({ name, type, format = '', description, priority = 0 }) => {
        return { name, type, format, description, priority };
      }),
    );
    definitions.set(columns, json);
  }
  return json;
}
