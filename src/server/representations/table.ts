import { scaleColumns } from '../../kinds/autoscaling/scale-columns.ts';
import { type Column, defaultColumns } from '../../kinds/columns/column.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Resource } from '../registry.ts';
import type { IncludeObject } from './forms.ts';
import { partialJson } from './metadata.ts';
import type { Source } from './source.ts';

export interface TableOptions {
  readonly resource: Resource;
  /** Of the table itself: `v1` or `v1beta1` of meta.k8s.io. */
  readonly version: string;
  readonly include: IncludeObject;
  /** Milliseconds since 1970: ages are told as of then. */
  readonly now: number;
  /** Whether the columns are described; a watch does that once. */
  readonly headers: boolean;
}

/** A table with a row for each object. `metadata` is that of the list, or of what stands for one. */
export function tableJson(metadata: object, sources: readonly Source[], options: TableOptions): string {
  const { resource, version, headers } = options;
  const first = sources[0]?.shown;
  const columns = columnsOf(resource.kind, first);
  const head = `{"kind":"Table","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)}`;
  const definitions = headers ? definitionsJson(columns) : 'null';
  const rows = inOrder(resource.kind, sources).map((source) => rowJson(source, columns, options));
  return `${head},"columnDefinitions":${definitions},"rows":[${rows.join(',')}]}`;
}

/** A subresource may answer with an object of another kind. */
function columnsOf({ kind, columns = defaultColumns }: Kind, shown: KubeObject | undefined): readonly Column[] {
  if (!shown || shown.kind === kind) return columns;
  return shown.kind === 'Scale' ? scaleColumns : defaultColumns;
}

function inOrder({ rows }: Kind, sources: readonly Source[]): readonly Source[] {
  const order = rows?.order;
  return order && sources.length > 1 ? [...sources].sort((a, b) => order(a.stored, b.stored)) : sources;
}

function rowJson(
  source: Source,
  columns: readonly Column[],
  { resource, version, include, now }: TableOptions,
): string {
  const { stored } = source;
  const cells = columns.map(({ cell }) => cell(stored, now));
  return `{"cells":${JSON.stringify(cells)}${conditionsJson(resource.kind, stored)},"object":${objectJson(source, version, include)}}`;
}

function conditionsJson({ rows }: Kind, stored: KubeObject): string {
  const completion = rows?.completed?.(stored);
  if (!completion) return '';
  return `,"conditions":${JSON.stringify([{ type: 'Completed', status: 'True', ...completion }])}`;
}

function objectJson(source: Source, version: string, include: IncludeObject): string {
  switch (include) {
    case 'None':
      return 'null';
    case 'Metadata':
      return partialJson(source, version);
    case 'Object':
      return source.json();
  }
}

/** The descriptions of a kind's columns never change. */
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
