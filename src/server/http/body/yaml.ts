import type * as Yaml from 'yaml';
import { detached } from '../../../base/bounded-map.ts';
import { DecodeError } from './decode-error.ts';

/** Loaded with the first body that needs it: most servers never see YAML, and loading it slows every start. */
let loading: Promise<typeof Yaml> | undefined;

function library(): Promise<typeof Yaml> {
  loading ??= import('yaml');
  return loading;
}

export interface YamlLimits {
  readonly maxDepth: number;
  /** Characters of the document after its aliases were expanded. */
  readonly maxBodyBytes: number;
  /** Called with the paths of duplicate keys; without it they are ignored. */
  readonly onDuplicates?: ((paths: readonly string[]) => void) | undefined;
}

/**
 * Decodes the first YAML document of a body into the equivalent JSON value: keys are strings, and aliases become copies.
 * Dates and sexagesimal numbers stay strings, as Kubernetes manifests expect.
 */
export async function decodeYaml(text: string, limits: YamlLimits): Promise<unknown> {
  const yaml = await library();
  const lines = new yaml.LineCounter();
  try {
    const document = firstDocument(yaml, text, lines);
    const error = document?.errors[0];
    if (error) {
      const line = `yaml: line ${lines.linePos(error.pos[0]).line}`;
      throw new DecodeError(`${line}: ${messageOf(error)}`, undefined, `${line}: invalid YAML`);
    }
    if (limits.onDuplicates && document) reportDuplicates(yaml, document, limits.onDuplicates);
    return new TreeCopier(limits).copy(document?.toJS({ maxAliasCount: 100 }) ?? null, 0);
  } catch (cause) {
    const { message, redacted } =
      cause instanceof DecodeError ? cause : { message: `yaml: ${messageOf(cause)}`, redacted: 'yaml: invalid YAML' };
    const head = 'error converting YAML to JSON: ';
    throw new DecodeError(head + message, cause, head + redacted);
  }
}

/** Further duplicates are not reported, and longer paths are cut off. */
const MAX_REPORTED_PATHS = 100;
const MAX_PATH_LENGTH = 2_000;

function reportDuplicates(
  yaml: typeof Yaml,
  { contents }: Yaml.Document,
  report: (paths: readonly string[]) => void,
): void {
  const found = new Set<string>();
  search(contents, '');
  if (found.size > 0) report([...found]);

  function search(node: unknown, path: string): void {
    if (yaml.isSeq(node)) node.items.forEach((item, i) => void search(item, `${path}[${i}]`));
    if (!yaml.isMap(node)) return;
    const keys = new Set<string>();
    for (const { key, value } of node.items) {
      const name = String(yaml.isScalar(key) ? key.value : key);
      const at = path ? `${path}.${name}`.slice(0, MAX_PATH_LENGTH) : name.slice(0, MAX_PATH_LENGTH);
      if (keys.has(name) && found.size < MAX_REPORTED_PATHS) found.add(at);
      keys.add(name);
      search(value, at);
    }
  }
}

/** Parsing takes microseconds per lexeme and blocks the event loop: this many take most of a second. */
const MAX_LEXEMES = 200_000;

/** Parses the first document of the text and ignores the rest. */
function firstDocument(yaml: typeof Yaml, text: string, lines: Yaml.LineCounter): Yaml.Document | undefined {
  const lexer = new yaml.Lexer();
  const parser = new yaml.Parser(lines.addNewLine);
  lines.addNewLine(0);
  function* tokens() {
    let count = 0;
    for (const lexeme of lexer.lex(text)) {
      if (++count > MAX_LEXEMES) throw new DecodeError('yaml: document has too many values');
      yield* parser.next(lexeme);
    }
    yield* parser.end();
  }
  const composer = new yaml.Composer({ version: '1.1', customTags: jsonTags, logLevel: 'error', uniqueKeys: false });
  for (const document of composer.compose(tokens())) return document as Yaml.Document;
  return undefined;
}

function messageOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (message.startsWith('Maximum call stack')) return 'nested too deeply';
  if (cause instanceof ReferenceError && message.startsWith('Excessive alias'))
    return 'document contains excessive aliasing';
  return message.length > 200 ? `${message.slice(0, 200)}…` : message;
}

/** The tags of YAML 1.1 that have an equivalent in JSON. */
function jsonTags(tags: Yaml.Tags): Yaml.Tags {
  return tags.filter(
    (tag) => typeof tag !== 'object' || (!NOT_JSON.has(tag.tag) && !('format' in tag && tag.format === 'TIME')),
  );
}

const NOT_JSON = new Set(['timestamp', 'binary', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`));

/** Copies a tree so that no part of it is shared, and rejects values that JSON lacks and trees that are too large. */
class TreeCopier {
  #left: number;

  constructor(private readonly limits: YamlLimits) {
    this.#left = limits.maxBodyBytes;
  }

  copy(value: unknown, depth: number): unknown {
    if (typeof value === 'string') {
      this.#spend(value.length);
      // Scalars are parts of the document, and would keep all of it in memory with the object.
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

/** An unquoted `<<` key would be parsed as a merge: if there is one, all keys are quoted. */
const QUOTED = {
  defaultKeyType: 'QUOTE_DOUBLE',
  customTags: (tags: Yaml.Tags) => tags.filter((tag) => typeof tag !== 'object' || !tag.tag.endsWith(':merge')),
} as const;

/** Encodes a response for a client that prefers YAML. */
export async function encodeYaml(value: unknown): Promise<Buffer> {
  const { stringify } = await library();
  const options = { version: '1.1', sortMapEntries: true, aliasDuplicateObjects: false, lineWidth: 0 } as const;
  return Buffer.from(stringify(value, JSON.stringify(value).includes('"<<":') ? { ...options, ...QUOTED } : options));
}
