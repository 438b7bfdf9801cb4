import { setImmediate as nextTurn } from 'node:timers/promises';
import type * as Yaml from 'yaml';
import type { ListReply } from '../../../api/reply.ts';
import { detached } from '../../../base/collections/bounded-map.ts';
import { DecodeError } from './decode-error.ts';
import { prettyJson } from './pretty-json.ts';
import { checkAliases } from './yaml-aliases.ts';

/** Loaded with the first YAML body: most servers never see YAML, and loading it slows every start. */
let loading: Promise<typeof Yaml> | undefined;

function library(): Promise<typeof Yaml> {
  loading ??= import('yaml');
  return loading;
}

export interface YamlLimits {
  readonly maxDepth: number;
  /** Limit for the characters of the document after expanding its aliases. */
  readonly maxBodyBytes: number;
  /** Called with the paths of duplicate keys; when absent they are ignored. */
  readonly onDuplicates?: ((paths: readonly string[]) => void) | undefined;
  /** Called with `line N: key "K" already set in map` for each repeated key. */
  readonly onRepeatedKeys?: ((faults: readonly string[]) => void) | undefined;
}

export type DecodeYaml = (text: string, limits: YamlLimits) => Promise<unknown>;

/**
 * Decodes the first YAML document of a body into the equivalent JSON value: keys are strings, and aliases become
 * copies. Dates and sexagesimal numbers stay strings, as Kubernetes manifests expect. `decodeLarge` decodes longer
 * texts.
 */
export function decodeYaml(
  text: string,
  limits: YamlLimits,
  decodeLarge: DecodeYaml = decodeInTurns,
): Promise<unknown> {
  return text.length <= LARGE_TEXT_LENGTH ? decodeDocument(text, limits) : decodeLarge(text, limits);
}

function decodeInTurns(text: string, limits: YamlLimits): Promise<unknown> {
  const decoded = largeDecoded.then(() => decodeDocument(text, limits));
  largeDecoded = decoded.then(
    () => nextTurn(),
    () => nextTurn(),
  );
  return decoded;
}

/** Settles with the last large text: decoding several concurrently would add up in the same turns of the event loop. */
let largeDecoded: Promise<void> = Promise.resolve();

/** Decodes a text of any length, which may have more lexemes in a thread whose event loop may be blocked. */
export async function decodeDocument(
  text: string,
  limits: YamlLimits,
  maxLexemes = MAX_LEXEMES_ON_EVENT_LOOP,
): Promise<unknown> {
  const yaml = await library();
  const lines = new yaml.LineCounter();
  try {
    const document = await firstDocument(yaml, text, { lines, maxLexemes, maxDepth: limits.maxDepth });
    const error = document?.errors[0];
    if (error) {
      const line = `yaml: line ${lines.linePos(error.pos[0]).line}`;
      throw new DecodeError(`${line}: ${messageOf(error)}`, undefined, `${line}: invalid YAML`);
    }
    const isLarge = text.length > LARGE_TEXT_LENGTH;
    if (isLarge) await nextTurn();
    if (document) {
      checkAliases(yaml, document, { maxValues: maxLexemes, maxDepth: limits.maxDepth });
      reportDuplicates(yaml, document, lines, limits);
    }
    if (isLarge) await nextTurn();
    // Aliases were counted above.
    const tree = document?.toJS({ maxAliasCount: -1 }) ?? null;
    if (isLarge) await nextTurn();
    return new TreeCopier(limits).copy(tree, 0);
  } catch (cause) {
    throw notConverted(
      cause instanceof DecodeError ? cause : { message: `yaml: ${messageOf(cause)}`, redacted: 'yaml: invalid YAML' },
      cause,
    );
  }
}

export function notConverted(
  { message, redacted = message }: { readonly message: string; readonly redacted?: string },
  cause?: unknown,
): DecodeError {
  const head = 'error converting YAML to JSON: ';
  return new DecodeError(head + message, cause, head + redacted);
}

/** Length from which a text is processed over several turns of the event loop. */
const LARGE_TEXT_LENGTH = 64 * 1024;

/** Limits for reported duplicates and the length of their paths. */
const MAX_REPORTED_PATHS = 100;
const MAX_PATH_LENGTH = 2_000;

function reportDuplicates(
  yaml: typeof Yaml,
  { contents }: Yaml.Document,
  lines: Yaml.LineCounter,
  { onDuplicates, onRepeatedKeys }: YamlLimits,
): void {
  if (!onDuplicates && !onRepeatedKeys) return;
  const found = new Set<string>();
  const faults: string[] = [];
  search(contents, '');
  if (found.size > 0) onDuplicates?.([...found]);
  if (faults.length > 0) onRepeatedKeys?.(faults);

  function search(node: unknown, path: string): void {
    if (yaml.isSeq(node)) node.items.forEach((item, i) => void search(item, `${path}[${i}]`));
    if (!yaml.isMap(node)) return;
    const keys = new Set<string>();
    for (const { key, value } of node.items) {
      const name = String(yaml.isScalar(key) ? key.value : key);
      const at = path ? `${path}.${name}`.slice(0, MAX_PATH_LENGTH) : name.slice(0, MAX_PATH_LENGTH);
      if (keys.has(name) && faults.length < MAX_REPORTED_PATHS) {
        found.add(at);
        const { line } = lines.linePos((yaml.isNode(key) && key.range?.[0]) || 0);
        faults.push(`line ${line}: key ${JSON.stringify(name.slice(0, MAX_PATH_LENGTH))} already set in map`);
      }
      keys.add(name);
      search(value, at);
    }
  }
}

/**
 * Limit for lexemes. Parsing takes microseconds per lexeme, a third of them for composing the document, which cannot be
 * interrupted: with the resulting garbage collection, 90,000 lexemes blocked the event loop for up to 266 ms.
 */
const MAX_LEXEMES_ON_EVENT_LOOP = 60_000;
/** Lexemes parsed in one turn of the event loop. */
const LEXEMES_PER_TURN = 4_000;

/** Additional levels: the document, and the scalar in the innermost list or map. */
const OTHER_LEVELS = 2;

/** Matches a lexeme after which the lexer recurses, or the space behind it: `- &anchor !tag ? `. */
const INDICATOR = /^[-?: \t&!]/;
/** Limit for consecutive indicators, for each level: a list item with an anchor, and spaces. */
const INDICATORS_PER_LEVEL = 4;

/**
 * Parses the first document of the text and ignores the rest. Yields to other requests. Nesting is checked before
 * composing, which recurses: V8 aborts the process if it has to compile a regular expression near the end of the stack.
 */
async function firstDocument(
  yaml: typeof Yaml,
  text: string,
  { lines, maxLexemes, maxDepth }: { lines: Yaml.LineCounter; maxLexemes: number; maxDepth: number },
): Promise<Yaml.Document | undefined> {
  const parser = new yaml.Parser(lines.addNewLine);
  const composer = new yaml.Composer({ version: '1.1', customTags: jsonTags, logLevel: 'error', uniqueKeys: false });
  lines.addNewLine(0);
  let count = 0;
  let indicators = 0;
  for (const lexeme of new yaml.Lexer().lex(text)) {
    indicators = INDICATOR.test(lexeme) ? indicators + 1 : 0;
    if (indicators > INDICATORS_PER_LEVEL * maxDepth) throw new DecodeError('yaml: too many indicators in a row');
    if (++count > maxLexemes) throw new DecodeError('yaml: document has too many values: send it as JSON');
    if (count % LEXEMES_PER_TURN === 0) await nextTurn();
    for (const token of parser.next(lexeme)) for (const document of composer.next(token)) return document;
    if (parser.stack.length > maxDepth + OTHER_LEVELS) {
      throw new DecodeError(`yaml: nested deeper than ${maxDepth} levels`);
    }
  }
  for (const token of parser.end()) for (const document of composer.next(token)) return document;
  for (const document of composer.end()) return document;
  return undefined;
}

function messageOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (message.startsWith('Maximum call stack')) return 'nested too deeply';
  return message.length > 200 ? `${message.slice(0, 200)}…` : message;
}

/** The tags of YAML 1.1 that have an equivalent in JSON. */
function jsonTags(tags: Yaml.Tags): Yaml.Tags {
  return tags.filter(
    (tag) => typeof tag !== 'object' || (!NOT_JSON.has(tag.tag) && !('format' in tag && tag.format === 'TIME')),
  );
}

const NOT_JSON = new Set(['timestamp', 'binary', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`));

/** Copies a tree without shared parts, and rejects values that JSON lacks and trees that are too large. */
class TreeCopier {
  #left: number;

  constructor(private readonly limits: YamlLimits) {
    this.#left = limits.maxBodyBytes;
  }

  copy(value: unknown, depth: number): unknown {
    if (typeof value === 'string') {
      this.#spend(value.length);
      // Scalars reference the document, and would keep all of it in memory with the object.
      return detached(value);
    }
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new DecodeError(`yaml: unsupported value: ${value}`);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= this.limits.maxDepth) throw new DecodeError(`yaml: nested deeper than ${this.limits.maxDepth} levels`);
    this.#spend(2);
    if (Array.isArray(value)) return value.map((item) => this.copy(item, depth + 1));
    const copy: Record<string, unknown> = {};
    for (const [key, child] of Object.entries(value)) {
      if (key === '__proto__') throw new DecodeError('yaml: the key "__proto__" is not allowed');
      this.#spend(key.length + 1);
      copy[key] = this.copy(child, depth + 1);
    }
    return copy;
  }

  #spend(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0) throw new DecodeError('yaml: document contains excessive aliasing');
  }
}

/** Quotes all keys if there is a `<<` key, which would be parsed as a merge when unquoted. */
const QUOTED = {
  defaultKeyType: 'QUOTE_DOUBLE',
  customTags: (tags: Yaml.Tags) => tags.filter((tag) => typeof tag !== 'object' || !tag.tag.endsWith(':merge')),
} as const;

/** Encodes a response for a client that prefers YAML. */
export async function encodeYaml(value: unknown): Promise<Buffer> {
  return Buffer.from(blockStyle(await library(), value));
}

/** Limit for block style, which takes most of a microsecond per byte. Larger objects are encoded as JSON. */
const MAX_BLOCK_STYLE_BYTES = 64 * 1024;

/** Encodes an object, given as JSON, and yields to other requests if it is large. */
export async function encodeYamlObject(json: Buffer): Promise<Buffer> {
  return json.length <= MAX_BLOCK_STYLE_BYTES ? encodeYaml(JSON.parse(json.toString())) : prettyJson(json);
}

/** The fields of a list except for its items, which are JSON with `kind` and `apiVersion`. */
export interface YamlList extends Pick<ListReply, 'kind' | 'apiVersion' | 'hasTypedItems'> {
  readonly metadata: object;
  readonly items: readonly { json(): Buffer }[];
}

/** Encodes a list as `encodeYaml` would, but item by item, and yields to other requests. */
export async function encodeYamlList(list: YamlList): Promise<Buffer> {
  const { kind, apiVersion, metadata, items, hasTypedItems } = list;
  const yaml = await library();
  const texts = [blockStyle(yaml, { apiVersion }), items.length === 0 ? 'items: []\n' : 'items:\n'];
  let bytes = 0;
  for (const item of items) {
    const json = item.json();
    bytes += json.length;
    if (bytes > MAX_BLOCK_STYLE_BYTES) {
      bytes = 0;
      await nextTurn();
    }
    const object = JSON.parse(json.toString());
    const shown = hasTypedItems ? object : untyped(object);
    texts.push(json.length <= MAX_BLOCK_STYLE_BYTES ? asItem(blockStyle(yaml, shown)) : asItem(JSON.stringify(shown)));
  }
  texts.push(blockStyle(yaml, { kind, metadata }));
  return Buffer.from(texts.join(''));
}

const untyped = ({ kind: _, apiVersion: __, ...rest }: Record<string, unknown>) => rest;

/** Indents a document as an item of the list of a top-level field. */
function asItem(text: string): string {
  return `  - ${text.replace(/\n$/, '').replace(/\n(?=[^\n])/g, '\n    ')}\n`;
}

function blockStyle({ stringify }: typeof Yaml, value: unknown): string {
  const options = { version: '1.1', sortMapEntries: true, aliasDuplicateObjects: false, lineWidth: 0 } as const;
  return stringify(value, JSON.stringify(value).includes('"<<":') ? { ...options, ...QUOTED } : options);
}
