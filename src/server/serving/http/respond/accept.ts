import type { GroupVersionKind } from '../../../../api/object-types.ts';
import { BoundedMap } from '../../../../base/collections/bounded-map.ts';
import { memoized } from '../../../../base/collections/memoized.ts';
import { PROTOBUF_TYPE } from '../../protobuf/envelope.ts';
import { notAcceptable } from '../errors.ts';

/** A form that a response can be converted to, as named in a media type: `as=Table;g=meta.k8s.io;v=v1`. */
export interface Form extends GroupVersionKind {
  /** True when the form is also available in protobuf. */
  readonly protobuf?: boolean;
}

/** The representations that a client can choose from. Offers are constants: choices are cached by their identity. */
export interface Offers<F extends Form = Form> {
  readonly forms: readonly F[];
  /** True when objects that are not converted to a form are available in protobuf. JSON and YAML are always offered. */
  readonly protobuf: boolean;
}

export interface Representation<F extends Form = Form> {
  readonly format: 'json' | 'yaml' | 'protobuf';
  /** Requested with the parameter `pretty=1` of the media type. */
  readonly pretty: boolean;
  /** The form to convert the response to, if any. */
  readonly form?: F;
}

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
const STREAM = ';stream=watch';

export const ACCEPTED_TYPES = [JSON_TYPE, YAML_TYPE];

const PLAIN_JSON: Representation<never> = Object.freeze({ format: 'json', pretty: false });

const TEXT_OFFERS: Offers<never> = Object.freeze({ forms: [], protobuf: false });
/** The offers for errors: a Status has every encoding. */
const STATUS_OFFERS: Offers<never> = Object.freeze({ forms: [], protobuf: true });

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** Parsed headers by offers: clients send the same few headers repeatedly. */
const parsed = memoized(
  (_offers: Offers) =>
    new BoundedMap<Representation | undefined>({ maxBytes: MAX_CACHED_BYTES, bytesOf: () => REPRESENTATION_BYTES }),
);
const MAX_CACHED_BYTES = 128 * 1024;
const REPRESENTATION_BYTES = 100;

/** Reports whether the client accepts JSON, for headers that need no parsing. */
export function isPlainJson(accept: string | undefined): boolean {
  return accept === undefined || accept === '*/*' || accept === JSON_TYPE || accept === '';
}

/** Chooses the representation that the client prefers. Throws a NotAcceptable if it accepts none. */
export function negotiate<F extends Form = never>(
  accept: string | undefined,
  offers: Offers<F> = TEXT_OFFERS,
): Representation<F> {
  if (accept === undefined || isPlainJson(accept)) return PLAIN_JSON;
  const chosen = choose(accept, offers);
  if (!chosen) throw notAcceptable(offers.protobuf ? [...ACCEPTED_TYPES, PROTOBUF_TYPE] : ACCEPTED_TYPES);
  return chosen;
}

/** Chooses the representation of a watch, which is a stream of JSON or protobuf. */
export function negotiateStream<F extends Form = never>(
  accept: string | undefined,
  offers: Offers<F> = TEXT_OFFERS,
): Representation<F> {
  if (accept === undefined || isPlainJson(accept)) return PLAIN_JSON;
  const chosen = choose(accept, offers);
  if (chosen && chosen.format !== 'yaml') return chosen;
  throw notAcceptable((offers.protobuf ? [JSON_TYPE, PROTOBUF_TYPE] : [JSON_TYPE]).map((type) => type + STREAM));
}

/** Returns the format of an error, which a 406 must not hide: a client that accepts no offered type gets it as JSON. */
export function errorFormat(accept: string | undefined): Representation['format'] {
  if (accept === undefined || isPlainJson(accept)) return 'json';
  return choose(accept, STATUS_OFFERS)?.format ?? 'json';
}

function choose<F extends Form>(accept: string, offers: Offers<F>): Representation<F> | undefined {
  const known = parsed(offers);
  // Cached entries of these offers were chosen among them.
  if (known.has(accept)) return known.get(accept) as Representation<F> | undefined;
  const chosen = parseAccept(accept)
    .map((clause) => offerFor(clause, offers))
    .find(Boolean);
  known.set(accept, chosen);
  return chosen;
}

function offerFor<F extends Form>(clause: Clause, offers: Offers<F>): Representation<F> | undefined {
  const { type, subtype, parameters } = clause;
  const format = formatOf(type, subtype);
  if (!format) return undefined;
  const stream = parameters.get('stream');
  // A watch is never YAML.
  if (stream && (stream !== 'watch' || format === 'yaml')) return undefined;
  const pretty = parameters.get('pretty') === '1';
  if (!parameters.has('as') && !parameters.has('g') && !parameters.has('v')) {
    return format !== 'protobuf' || offers.protobuf ? { format, pretty } : undefined;
  }
  const form = offers.forms.find(
    ({ kind, group, version }) =>
      parameters.get('as') === kind && parameters.get('g') === group && parameters.get('v') === version,
  );
  return form && (format !== 'protobuf' || form.protobuf) ? { format, pretty, form } : undefined;
}

function formatOf(type: string, subtype: string): Representation['format'] | undefined {
  if (subtype === '*' && (type === '*' || type === 'application')) return 'json';
  if (type !== 'application') return undefined;
  if (subtype === 'vnd.kubernetes.protobuf') return 'protobuf';
  return subtype === 'json' || subtype === 'yaml' ? subtype : undefined;
}

/** Parses the header's clauses, by descending preference. */
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
