/** What a request can say in its path and its query. */
import type { QueryParameters } from '../subresources/parameters.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

const path = (name: string, description: string): Parameter => ({ name, in: 'path', type: 'string', description });
const query = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
});

export const NAMESPACE = path('namespace', 'the namespace that the objects live in');

export function nameParameter(kind: string): Parameter {
  return path('name', `name of the ${kind}`);
}

/** What follows the name of a subresource that takes a path. */
export const PATH = path('path', 'the rest of the path');

/** The query parameters that a subresource declares. */
export function publishedParameters(parameters: QueryParameters = {}): Parameter[] {
  const published = Object.entries(parameters).filter(([, { isPublished }]) => isPublished ?? true);
  return published.map(([name, { type, description }]) => query(name, type, description));
}

export const PRETTY = query('pretty', 'string', 'true: the answer is indented, for people.');

const DRY_RUN = query('dryRun', 'string', 'All: the request is checked, and nothing is changed.');
const FIELD_VALIDATION = query(
  'fieldValidation',
  'string',
  'What becomes of unknown and duplicate fields: Ignore, Warn or Strict.',
);
const FIELD_MANAGER = query('fieldManager', 'string', 'Who makes the change.');

const SELECTION = [
  query('continue', 'string', 'The rest of a list that was cut off: what the list gave to go on with.'),
  query('fieldSelector', 'string', 'Only objects whose fields have these values.'),
  query('includeUninitialized', 'boolean', 'Also objects that are not yet initialized.'),
  query('labelSelector', 'string', 'Only objects whose labels match.'),
  query('limit', 'integer', 'At most so many objects.'),
  query('resourceVersion', 'string', 'How fresh the answer must be, or where a watch starts.'),
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.'),
];

export const LIST = [
  query('allowWatchBookmarks', 'boolean', 'A watch may tell how far it has come when nothing changes.'),
  ...SELECTION,
  query('sendInitialEvents', 'boolean', 'A watch begins with the objects that there are.'),
  query('timeoutSeconds', 'integer', 'The list or watch ends after so long.'),
  query('watch', 'boolean', 'Changes are told as they happen.'),
];

export const GET = [
  query('exact', 'boolean', 'With export: fields of this cluster, such as the namespace, are kept.'),
  query('export', 'boolean', 'Without what only this cluster gives an object.'),
];

export const WRITE = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];

export const DELETE = [
  DRY_RUN,
  query('gracePeriodSeconds', 'integer', 'How long the object may live on; 0 ends it at once.'),
  query('orphanDependents', 'boolean', 'The old form of propagationPolicy: true is Orphan.'),
  query('propagationPolicy', 'string', 'What becomes of dependents: Orphan, Background or Foreground.'),
];

export const DELETE_COLLECTION = [...DELETE, ...SELECTION];

/**
 * Those that are written out where they are used, and not referred to: kubectl finds out from them, without following
 * references, what a kind supports.
 */
export const WRITTEN_OUT: ReadonlySet<string> = new Set([DRY_RUN.name, FIELD_VALIDATION.name]);
