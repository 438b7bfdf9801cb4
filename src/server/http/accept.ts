import { notAcceptable } from './errors.ts';

/** How a reply is written. */
export interface Representation {
  readonly format: 'json' | 'yaml';
  /** Asked for with a parameter of the media type. */
  readonly pretty: boolean;
}

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
const STREAM_TYPE = 'application/json;stream=watch';

export const ACCEPTED_TYPES = [JSON_TYPE, YAML_TYPE];

const PLAIN_JSON: Representation = Object.freeze({ format: 'json', pretty: false });

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** Headers that were seen, with what they ask for; clients send the same few over and over. */
const seen = new Map<string, Representation | undefined>();
const REMEMBERED = 256;

/** Chooses among what is offered; fails with 406 when nothing the client takes is on offer. */
export function negotiate(accept: string | undefined): Representation {
  if (accept === undefined || accept === '*/*' || accept === JSON_TYPE || accept === '') return PLAIN_JSON;
  const chosen = choose(accept);
  if (!chosen) throw notAcceptable(ACCEPTED_TYPES);
  return chosen;
}

/** The same for a watch, which is always a stream of JSON. */
export function negotiateStream(accept: string | undefined): Representation {
  if (accept === undefined || accept === '*/*' || accept === JSON_TYPE || accept === '') return PLAIN_JSON;
  const chosen = choose(accept);
  if (chosen?.format !== 'json') throw notAcceptable([STREAM_TYPE]);
  return chosen;
}

function choose(accept: string): Representation | undefined {
  if (seen.has(accept)) return seen.get(accept);
  const chosen = parseAccept(accept).map(offerFor).find(Boolean);
  if (seen.size >= REMEMBERED) seen.clear();
  seen.set(accept, chosen);
  return chosen;
}

function offerFor({ type, subtype, parameters }: Clause): Representation | undefined {
  const format = formatOf(type, subtype);
  if (!format) return undefined;
  // Tables and metadata alone are other representations of the object, and a stream is no YAML.
  if (parameters.has('as') || parameters.has('g') || parameters.has('v')) return undefined;
  const stream = parameters.get('stream');
  if (stream && (stream !== 'watch' || format !== 'json')) return undefined;
  return { format, pretty: parameters.get('pretty') === '1' };
}

function formatOf(type: string, subtype: string): Representation['format'] | undefined {
  if (subtype === '*' && (type === '*' || type === 'application')) return 'json';
  if (type !== 'application') return undefined;
  return subtype === 'json' || subtype === 'yaml' ? subtype : undefined;
}

/** The header's clauses, the most wanted first. */
function parseAccept(header: string): Clause[] {
  const clauses = header.split(',').flatMap((text) => parseClause(text) ?? []);
  return clauses.sort((a, b) => b.quality - a.quality || wildcards(a) - wildcards(b));
}

function wildcards({ type, subtype }: Clause): number {
  return (type === '*' ? 1 : 0) + (subtype === '*' ? 1 : 0);
}

function parseClause(text: string): Clause | undefined {
  const [range, ...rest] = text.split(';');
  const [type, subtype] = (range ?? '').trim().toLowerCase().split('/');
  if (!type || !subtype) return undefined;
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const equals = parameter.indexOf('=');
    if (equals > 0) parameters.set(parameter.slice(0, equals).trim(), parameter.slice(equals + 1).trim());
  }
  const quality = Number(parameters.get('q') ?? 1);
  return quality > 0 ? { type, subtype, parameters, quality } : undefined;
}
