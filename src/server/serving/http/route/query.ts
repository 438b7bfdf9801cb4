import type { CallOptions } from '../../../../api/call.ts';
import { badRequest } from '../../../../api/errors.ts';
import type { ParameterValues, QueryParameters } from '../../../../api/parameters.ts';
import { parseDuration } from '../../../../base/time/go-duration.ts';
import { decodeComponent } from './route.ts';

export interface Query {
  readonly options: CallOptions;
  readonly watch: boolean;
  /** True to indent the response; undefined if the client does not specify it. */
  readonly pretty: boolean | undefined;
  /** The content of the rows of a Table. */
  readonly includeObject: string | undefined;
  /** Timeout of the client, in milliseconds; undefined if it has none. */
  readonly timeoutMs: number | undefined;
}

export const NO_QUERY: Query = Object.freeze({
  options: Object.freeze({}),
  watch: false,
  pretty: undefined,
  includeObject: undefined,
  timeoutMs: undefined,
});

type MutableCallOptions = { -readonly [K in keyof CallOptions]: CallOptions[K] };
type KeyOf<T> = {
  [K in keyof MutableCallOptions]-?: T extends NonNullable<MutableCallOptions[K]> ? K : never;
}[keyof MutableCallOptions];

const STRINGS: ReadonlySet<string> = new Set<KeyOf<string>>([
  'labelSelector',
  'fieldSelector',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'fieldManager',
  'fieldValidation',
  'propagationPolicy',
]);

const INTEGERS: ReadonlySet<string> = new Set<KeyOf<number>>(['limit', 'timeoutSeconds', 'gracePeriodSeconds']);

const BOOLEANS: ReadonlySet<string> = new Set<KeyOf<boolean>>([
  'allowWatchBookmarks',
  'sendInitialEvents',
  'includeUninitialized',
  'export',
  'exact',
  'force',
  'orphanDependents',
]);

/**
 * Parses the part after the question mark. The first value of a repeated parameter counts; unknown parameters are
 * ignored, as they may be meant for a client or a proxy.
 */
export function parseQuery(search: string): Query {
  const options: MutableCallOptions = {};
  const dryRun: string[] = [];
  let watch = false;
  let watchSeen = false;
  let pretty: boolean | undefined;
  let includeObject: string | undefined;
  let timeoutMs: number | undefined;
  for (const [key, value] of pairsOf(search)) {
    if (key === 'watch') {
      if (!watchSeen) watch = booleanOf(value);
      watchSeen = true;
    } else if (key === 'pretty') pretty ??= prettyOf(value);
    else if (key === 'includeObject') includeObject ??= value;
    else if (key === 'timeout') timeoutMs ??= durationOf(value);
    else if (key === 'dryRun') dryRun.push(value);
    else read(options, key, value);
  }
  if (dryRun.length > 0) options.dryRun = dryRun;
  return { options, watch, pretty, includeObject, timeoutMs };
}

/** Parses the parameters that a subresource declares. */
export function parseParameters(search: string, declared: QueryParameters): ParameterValues {
  const values: Record<string, string | number | boolean | string[]> = {};
  for (const [key, value] of pairsOf(search)) {
    if (!Object.hasOwn(declared, key)) continue;
    const { type } = declared[key]!;
    const known = Object.hasOwn(values, key) ? values[key] : undefined;
    if (type !== 'strings') {
      if (known === undefined) values[key] = READERS[type](value);
    } else if (Array.isArray(known)) known.push(value);
    else values[key] = [value];
  }
  return values;
}

function* pairsOf(search: string): Generator<[key: string, value: string]> {
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const key = decodeComponent(equals < 0 ? pair : pair.slice(0, equals), true);
    yield [key, equals < 0 ? '' : decodeComponent(pair.slice(equals + 1), true)];
  }
}

function read(options: MutableCallOptions, key: string, value: string): void {
  if (Object.hasOwn(options, key)) return;
  if (STRINGS.has(key)) options[key as KeyOf<string>] = value;
  else if (INTEGERS.has(key)) options[key as KeyOf<number>] = integerOf(value);
  else if (BOOLEANS.has(key)) options[key as KeyOf<boolean>] = booleanOf(value);
}

/** Parses a boolean: only `0` and `false` are false; a parameter without a value is true. */
function booleanOf(value: string): boolean {
  return value !== '0' && value.toLowerCase() !== 'false';
}

function durationOf(value: string): number {
  const duration = value === '' ? 0 : parseDuration(value);
  if (typeof duration === 'number') return duration;
  throw badRequest(`invalid timeout specified in the request URL - ${duration.error}`);
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

/** Parses `pretty`. An empty value leaves the choice to the server. */
function prettyOf(value: string): boolean | undefined {
  return value === '' ? undefined : TRUE.has(value);
}

const INTEGER = /^[+-]?\d+$/;
const MAX_INT64 = 2n ** 63n - 1n;

function integerOf(value: string): number {
  if (!INTEGER.test(value)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
  if (value.length > 15) {
    const exact = BigInt(value.startsWith('+') ? value.slice(1) : value);
    if (exact > MAX_INT64 || exact < -MAX_INT64 - 1n) {
      throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`);
    }
  }
  return Number(value);
}

const READERS = { string: (value: string) => value, integer: integerOf, boolean: booleanOf };
