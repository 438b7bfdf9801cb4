/** Compares two states of a store, object by object. */
import type { KubeObject } from '../../../../kinds/kind.ts';
import type { Row } from '../../../../store/store.ts';
import { contentOf, diffLines } from '../../../history/object-diff.ts';

export interface ObjectChange {
  readonly action: 'created' | 'changed' | 'deleted';
  /** As `apps/v1 Deployment`; the key in the store for what is not an object. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Lines such as `- spec.replicas: 3` and `+ spec.replicas: 5`; without the values of Secrets. None for deletions. */
  readonly fields: readonly string[];
  /** Number of further lines. */
  readonly moreFields: number;
}

const MAX_FIELDS = 40;
const MAX_LINE_CHARACTERS = 200;
const SECRET = 'v1 Secret';
/** A path, without its value. */
const PATH = /^[+-] (?:\.?[\w-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])+/;

/** Events are left out: they say what is seen in the objects that they are about. */
export function changesBetween(before: readonly Row[], after: readonly Row[]): ObjectChange[] {
  const old = new Map(before.map((row) => [row.key, row]));
  const changes: ObjectChange[] = [];
  for (const row of after.filter(isNoEvent)) {
    const previous = old.get(row.key);
    old.delete(row.key);
    if (previous?.revision === row.revision) continue;
    const change = changeOf(row, previous);
    if (change) changes.push(change);
  }
  for (const row of [...old.values()].filter(isNoEvent)) {
    changes.push({ ...identityOf(row), action: 'deleted', fields: [], moreFields: 0 });
  }
  return changes;
}

const EVENTS = ['/registry/core/events/', '/registry/events.k8s.io/events/'];

const isNoEvent = ({ key }: Row) => !EVENTS.some((prefix) => key.startsWith(prefix));

/** Undefined when only the bookkeeping of the object has changed. */
function changeOf(row: Row, previous: Row | undefined): ObjectChange | undefined {
  const identity = identityOf(row);
  const all = diffLines(previous && contentIn(previous), contentIn(row));
  if (previous && all.length === 0) return undefined;
  const lines = all.slice(0, MAX_FIELDS).map((line) => shown(line, identity.kind));
  return {
    ...identity,
    action: previous ? 'changed' : 'created',
    fields: lines,
    moreFields: all.length - lines.length,
  };
}

function shown(line: string, kind: string): string {
  const text = kind === SECRET ? `${PATH.exec(line)?.[0] ?? line.slice(0, 1)}: (hidden)` : line;
  return text.length > MAX_LINE_CHARACTERS ? `${text.slice(0, MAX_LINE_CHARACTERS)}…` : text;
}

type Identity = Pick<ObjectChange, 'kind' | 'namespace' | 'name'>;

function identityOf({ key, value }: Row): Identity {
  const object = objectIn(value);
  if (!object) return { kind: key, namespace: '', name: '' };
  const { apiVersion, kind, metadata } = object;
  // Names that the server has generated differ each time.
  const name = metadata.generateName ? `${metadata.generateName}*` : (metadata.name ?? '');
  return { kind: `${apiVersion} ${kind}`, namespace: metadata.namespace ?? '', name };
}

function contentIn({ value }: Row): object {
  const object = objectIn(value);
  return object ? contentOf(object) : { value: value.toString('base64') };
}

function objectIn(value: Buffer): KubeObject | undefined {
  try {
    const object = JSON.parse(value.toString());
    return typeof object?.metadata?.name === 'string' ? object : undefined;
  } catch {
    return undefined;
  }
}
