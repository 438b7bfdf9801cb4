import { BoundedMap } from '../../../base/bounded-map.ts';
import { notAcceptable } from '../errors.ts';

/** A kind that a response can be converted to, as a media type names it: `as=Table;g=meta.k8s.io;v=v1`. */
export interface Form {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

/** How a response is encoded. */
export interface Representation<F extends Form = Form> {
  readonly format: 'json' | 'yaml';
  /** Requested with the parameter `pretty=1` of the media type. */
  readonly pretty: boolean;
  /** What the response is to be converted to, if anything. */
  readonly form?: F;
}

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
const STREAM_TYPE = 'application/json;stream=watch';

export const ACCEPTED_TYPES = [JSON_TYPE, YAML_TYPE];

const PLAIN_JSON: Representation<never> = Object.freeze({ format: 'json', pretty: false });

const NO_FORMS: readonly never[] = Object.freeze([]);

interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

/** Parsed headers, by the forms that were on offer, which are constants: clients send the same few headers repeatedly. */
const parsed = new WeakMap<readonly Form[], BoundedMap<Representation | undefined>>();
const MAX_CACHED_BYTES = 128 * 1024;
const REPRESENTATION_BYTES = 100;

/** Chooses the representation that the client prefers. Throws a NotAcceptable if it accepts none. */
export function negotiate<F extends Form = never>(
  accept: string | undefined,
  forms: readonly F[] = NO_FORMS,
): Representation<F> {
  if (accept === undefined || accept === '*/*' || accept === JSON_TYPE || accept === '') return PLAIN_JSON;
  const chosen = choose(accept, forms);
  if (!chosen) throw notAcceptable(ACCEPTED_TYPES);
  return chosen;
}

/** The same for a watch, which is always a stream of JSON. */
export function negotiateStream<F extends Form = never>(
  accept: string | undefined,
  forms: readonly F[] = NO_FORMS,
): Representation<F> {
  if (accept === undefined || accept === '*/*' || accept === JSON_TYPE || accept === '') return PLAIN_JSON;
  const chosen = choose(accept, forms);
  if (chosen?.format !== 'json') throw notAcceptable([STREAM_TYPE]);
  return chosen;
}

function choose<F extends Form>(accept: string, forms: readonly F[]): Representation<F> | undefined {
  let known = parsed.get(forms);
  if (!known) {
    known = new BoundedMap({ maxBytes: MAX_CACHED_BYTES, bytesOf: () => REPRESENTATION_BYTES });
    parsed.set(forms, known);
  }
  // Entries of these forms were chosen among them.
  if (known.has(accept)) return known.get(accept) as Representation<F> | undefined;
  const chosen = parseAccept(accept)
    .map((clause) => offerFor(clause, forms))
    .find(Boolean);
  known.set(accept, chosen);
  return chosen;
}

function offerFor<F extends Form>(clause: Clause, forms: readonly F[]): Representation<F> | undefined {
  const { type, subtype, parameters } = clause;
  const format = formatOf(type, subtype);
  if (!format) return undefined;
  const stream = parameters.get('stream');
  // A watch is never YAML.
  if (stream && (stream !== 'watch' || format !== 'json')) return undefined;
  const pretty = parameters.get('pretty') === '1';
  if (!parameters.has('as') && !parameters.has('g') && !parameters.has('v')) return { format, pretty };
  const form = forms.find(
    ({ kind, group, version }) =>
      parameters.get('as') === kind && parameters.get('g') === group && parameters.get('v') === version,
  );
  return form && { format, pretty, form };
}

function formatOf(type: string, subtype: string): Representation['format'] | undefined {
  if (subtype === '*' && (type === '*' || type === 'application')) return 'json';
  if (type !== 'application') return undefined;
  return subtype === 'json' || subtype === 'yaml' ? subtype : undefined;
}

/** The header's clauses, by descending preference. */
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
