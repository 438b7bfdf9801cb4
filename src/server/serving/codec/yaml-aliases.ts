import type * as Yaml from 'yaml';
import { DecodeError } from './decode-error.ts';

interface AliasLimits {
  /** Number of scalars, lists and maps of the document after expanding its aliases. */
  readonly maxValues: number;
  readonly maxDepth: number;
}

/** Limit for aliases: the library searches the anchor of each among all anchors and aliases before it. */
const MAX_ALIASES = 1_000;

/**
 * Rejects a document that becomes too large when its aliases are expanded. The library has its own limit, but checking
 * it takes the size of the document times the number of aliases, and merged maps (`<<`) are copied before it applies.
 */
export function checkAliases(yaml: typeof Yaml, { contents }: Yaml.Document, limits: AliasLimits): void {
  /** Anchors by name. The size is undefined while the node is being measured. */
  const anchors = new Map<string, { size: number | undefined }>();
  let aliases = 0;
  sizeOf(contents);

  function sizeOf(node: unknown): number {
    if (yaml.isAlias(node)) return sizeOfAlias(node);
    const anchored = { size: undefined as number | undefined };
    if (yaml.isNode(node) && node.anchor) anchors.set(node.anchor, anchored);
    let size = 1;
    if (yaml.isSeq(node)) for (const item of node.items) size += sizeOf(item);
    if (yaml.isMap(node)) for (const { key, value } of node.items) size += sizeOf(key) + sizeOf(value);
    if (size > limits.maxValues) throw excessive();
    anchored.size = size;
    return size;
  }

  function sizeOfAlias({ source }: Yaml.Alias): number {
    if (++aliases > MAX_ALIASES) throw excessive();
    const anchored = anchors.get(source);
    // The library reports aliases without an anchor.
    if (!anchored) return 1;
    if (anchored.size === undefined) throw new DecodeError(`yaml: nested deeper than ${limits.maxDepth} levels`);
    return anchored.size;
  }
}

const excessive = () => new DecodeError('yaml: document contains excessive aliasing');
