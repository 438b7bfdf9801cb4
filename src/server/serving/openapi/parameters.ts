import type { QueryParameters } from '../../../api/parameters.ts';

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

export const NAMESPACE = path('namespace', 'Namespace of the objects.');

export function nameParameter(kind: string): Parameter {
  return path('name', `Name of the ${kind}.`);
}

/** The rest of the path after the name of a subresource that takes one. */
export const PATH = path('path', 'Path that the request is passed on to.');

/** Returns the query parameters that a subresource declares. */
export function publishedParameters(parameters: QueryParameters = {}): Parameter[] {
  const published = Object.entries(parameters).filter(([, { isPublished }]) => isPublished ?? true);
  return published.map(([name, { type, description }]) =>
    query(name, type === 'strings' ? 'string' : type, description),
  );
}

export const PRETTY = query(
  'pretty',
  'string',
  'Whether the response is indented (true or false). Default: true for curl, wget and browsers.',
);

const DRY_RUN = query('dryRun', 'string', 'Set to All to run all checks without persisting the change.');
const FIELD_VALIDATION = query(
  'fieldValidation',
  'string',
  'How unknown and duplicate fields are handled: Ignore, Warn (default) or Strict, which rejects the request.',
);
const FIELD_MANAGER = query('fieldManager', 'string', 'Name of the program or user that makes the change.');

const SELECTION = [
  query('continue', 'string', 'Token from metadata.continue of the previous page, to request the next one.'),
  query(
    'fieldSelector',
    'string',
    'Restricts the result to objects whose fields have these values, such as metadata.name=web.',
  ),
  query('includeUninitialized', 'boolean', 'Whether objects with pending initializers are included.'),
  query('labelSelector', 'string', 'Restricts the result to objects whose labels match, such as app=web,tier!=db.'),
  query('limit', 'integer', 'Maximum number of objects in the response. The rest is requested with continue.'),
  query(
    'resourceVersion',
    'string',
    'Minimum version that a read must show, or the version after which a watch starts.',
  ),
  query('resourceVersionMatch', 'string', 'How resourceVersion is applied: Exact or NotOlderThan.'),
];

export const LIST = [
  query(
    'allowWatchBookmarks',
    'boolean',
    'Whether a watch sends BOOKMARK events with the version that it has reached.',
  ),
  ...SELECTION,
  query(
    'sendInitialEvents',
    'boolean',
    'Whether a watch begins with ADDED events for the existing objects and a bookmark behind them.',
  ),
  query('timeoutSeconds', 'integer', 'Timeout of the list or watch in seconds.'),
  query('watch', 'boolean', 'Whether changes are streamed as watch events instead of returning a list.'),
];

export const GET = [
  query('exact', 'boolean', 'With export: whether cluster-specific fields such as the namespace are kept.'),
  query(
    'export',
    'boolean',
    'Whether fields that the server sets are removed, so that the object can be created again.',
  ),
];

export const WRITE = [DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION];
export const FORCE = query('force', 'boolean', 'Whether an apply takes over fields that other managers own.');

export const DELETE = [
  DRY_RUN,
  query(
    'gracePeriodSeconds',
    'integer',
    'Seconds before the object is removed; 0 removes it immediately. Default: that of the kind.',
  ),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy. True means Orphan.'),
  query('propagationPolicy', 'string', 'How dependents are handled: Orphan, Background or Foreground.'),
];

export const DELETE_COLLECTION = [...DELETE, ...SELECTION];

/** Parameters that are written inline: kubectl looks for them there to find out what a kind supports. */
export const INLINE_PARAMETERS: ReadonlySet<string> = new Set([DRY_RUN.name, FIELD_VALIDATION.name]);
