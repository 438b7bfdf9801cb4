/** The schemas that another server publishes: fetched in the background, parsed when a client requests them. */
import { inTurns } from '../../../../base/event-loop/in-turns.ts';
import type { TurnBudget } from '../../../../base/event-loop/turn-budget.ts';
import { isTree } from '../../../../base/json/tree.ts';
import type { BackendSchemas } from '../../backend.ts';
import type { Fetched, Transport } from '../forwarding/transport.ts';
import { boundedJsonInTurns } from './bounded-json.ts';

const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const JSON_TYPE = 'application/json';
const OK = 200;
const NOT_MODIFIED = 304;

interface Kept {
  readonly body: Buffer;
  readonly etag: string | undefined;
  readonly path: string;
}

export class OpenApiDocuments {
  #v2: Kept | undefined;
  #v3: Kept | undefined;

  constructor(
    /** The root path, such as `/apis/example.com/v1`. */
    private readonly root: string,
    private readonly turns: TurnBudget,
  ) {}

  /** Loads the schema code when a client first requests a schema. */
  async schemas(): Promise<BackendSchemas> {
    const { partOf, documentOf } = await import('./openapi-parts.ts');
    const turns = this.turns;
    return {
      v2: () => inTurns(turns, partOf(this.#v2?.body, this.root, turns)),
      v3: () => inTurns(turns, documentOf(this.#v3?.body, turns)),
    };
  }

  /** Fetches changed documents. Resolves with true if anything changed. No document: nothing is published. */
  async refresh(transport: Transport): Promise<boolean> {
    const v2 = await this.#fetch(transport, '/openapi/v2', this.#v2);
    const path = await this.#pathV3(transport);
    const v3 = path === undefined ? undefined : await this.#fetch(transport, path, this.#v3);
    const isSame = isSameDocument(v2, this.#v2) && isSameDocument(v3, this.#v3);
    this.#v2 = v2;
    this.#v3 = v3;
    return !isSame;
  }

  async #fetch(transport: Transport, path: string, known: Kept | undefined): Promise<Kept | undefined> {
    const etag = known?.path === path ? known.etag : undefined;
    const fetched = await get(transport, path, etag);
    if (fetched?.code === NOT_MODIFIED) return known;
    return fetched?.code === OK ? { body: fetched.body, etag: fetched.etag, path } : undefined;
  }

  /** Returns the path of the document according to the index. */
  async #pathV3(transport: Transport): Promise<string | undefined> {
    const fetched = await get(transport, '/openapi/v3', undefined);
    if (fetched?.code !== OK) return undefined;
    const index = await inTurns(this.turns, boundedJsonInTurns(fetched.body, this.turns));
    const entry = isTree(index) && isTree(index.paths) ? index.paths[this.root.slice(1)] : undefined;
    const path = isTree(entry) ? entry.serverRelativeURL : undefined;
    return typeof path === 'string' && /^\/openapi\/v3\/[!-~]*$/.test(path) ? path : undefined;
  }
}

/** Fetches a document; undefined when the response is not as expected. */
async function get(transport: Transport, path: string, etag: string | undefined): Promise<Fetched | undefined> {
  try {
    return await transport.fetch(path, {
      accept: JSON_TYPE,
      etag,
      maxBytes: MAX_DOCUMENT_BYTES,
      timeoutMs: TIMEOUT_MS,
    });
  } catch {
    return undefined;
  }
}

function isSameDocument(a: Kept | undefined, b: Kept | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && a.body.equals(b.body));
}
