import type * as Yaml from 'yaml';
import { DecodeError } from './decode-error.ts';

/** Loaded with the first body that needs it: most servers never see one, and every start would pay. */
let loading: Promise<typeof Yaml> | undefined;

function library(): Promise<typeof Yaml> {
  loading ??= import('yaml');
  return loading;
}

export interface YamlLimits {
  readonly depth: number;
  /** Of what aliases expand to, in characters. */
  readonly size: number;
  /** Told of keys that stand twice in one map, where somebody wants to know. */
  readonly duplicates?: ((paths: readonly string[]) => void) | undefined;
}

/**
 * Reads the first document of a body as the JSON it stands for: keys are strings, aliases become copies. What only looks
 * like a date or a sexagesimal number stays text, as in the manifests people write.
 */
export async function decodeYaml(text: string, limits: YamlLimits): Promise<unknown> {
  const yaml = await library();
  const lines = new yaml.LineCounter();
  try {
    const document = firstDocument(yaml, text, lines);
    const error = document?.errors[0];
    if (error) throw new DecodeError(`yaml: line ${lines.linePos(error.pos[0]).line}: ${wordsOf(error)}`);
    if (limits.duplicates && document) tellDuplicates(yaml, document, limits.duplicates);
    return new Plain(limits).copy(document?.toJS({ maxAliasCount: 100 }) ?? null, 0);
  } catch (cause) {
    const words = cause instanceof DecodeError ? cause.message : `yaml: ${wordsOf(cause)}`;
    throw new DecodeError(`error converting YAML to JSON: ${words}`, cause);
  }
}

function tellDuplicates(
  yaml: typeof Yaml,
  { contents }: Yaml.Document,
  tell: (paths: readonly string[]) => void,
): void {
  const found = new Set<string>();
  look(contents, '');
  if (found.size > 0) tell([...found]);

  function look(node: unknown, path: string): void {
    if (yaml.isSeq(node)) node.items.forEach((item, i) => void look(item, `${path}[${i}]`));
    if (!yaml.isMap(node)) return;
    const keys = new Set<string>();
    for (const { key, value } of node.items) {
      const name = String(yaml.isScalar(key) ? key.value : key);
      const at = path ? `${path}.${name}` : name;
      if (keys.has(name)) found.add(at);
      keys.add(name);
      look(value, at);
    }
  }
}

/** Parsing takes microseconds a lexeme and nothing else runs meanwhile: this is most of a second. */
const LEXEMES = 200_000;

/** Later documents of the text are not even looked at. */
function firstDocument(yaml: typeof Yaml, text: string, lines: Yaml.LineCounter): Yaml.Document | undefined {
  const lexer = new yaml.Lexer();
  const parser = new yaml.Parser(lines.addNewLine);
  lines.addNewLine(0);
  function* tokens() {
    let count = 0;
    for (const lexeme of lexer.lex(text)) {
      if (++count > LEXEMES) throw new DecodeError('yaml: document has too many values');
      yield* parser.next(lexeme);
    }
    yield* parser.end();
  }
  const composer = new yaml.Composer({ version: '1.1', customTags: jsonTags, logLevel: 'error', uniqueKeys: false });
  for (const document of composer.compose(tokens())) return document as Yaml.Document;
  return undefined;
}

function wordsOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (message.startsWith('Maximum call stack')) return 'nested too deeply';
  if (cause instanceof ReferenceError && message.startsWith('Excessive alias'))
    return 'document contains excessive aliasing';
  return message.length > 200 ? `${message.slice(0, 200)}…` : message;
}

/** YAML 1.1 without what JSON cannot say. */
function jsonTags(tags: Yaml.Tags): Yaml.Tags {
  return tags.filter(
    (tag) => typeof tag !== 'object' || (!NOT_JSON.has(tag.tag) && !('format' in tag && tag.format === 'TIME')),
  );
}

const NOT_JSON = new Set(['timestamp', 'binary', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`));

/** Copies a tree, so that no part of it is shared, and refuses what is no JSON or has grown too large. */
class Plain {
  #left: number;

  constructor(private readonly limits: YamlLimits) {
    this.#left = limits.size;
  }

  copy(value: unknown, depth: number): unknown {
    if (typeof value === 'string') this.#spend(value.length);
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new DecodeError(`yaml: unsupported value: ${value}`);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= this.limits.depth) throw new DecodeError(`yaml: nested deeper than ${this.limits.depth} levels`);
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

/** A plain `<<` would be read as a merge of what stands under it: where there is such a key, all are quoted. */
const QUOTED = {
  defaultKeyType: 'QUOTE_DOUBLE',
  customTags: (tags: Yaml.Tags) => tags.filter((tag) => typeof tag !== 'object' || !tag.tag.endsWith(':merge')),
} as const;

/** What a client that prefers YAML gets. */
export async function encodeYaml(value: unknown): Promise<Buffer> {
  const { stringify } = await library();
  const options = { version: '1.1', sortMapEntries: true, aliasDuplicateObjects: false, lineWidth: 0 } as const;
  return Buffer.from(stringify(value, JSON.stringify(value).includes('"<<":') ? { ...options, ...QUOTED } : options));
}
