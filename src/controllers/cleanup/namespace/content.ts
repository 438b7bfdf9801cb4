/** Lists all objects in a namespace, of all kinds that are currently served. */
import { isApiError } from '../../../base/errors.ts';
import type { Client } from '../../../client/client.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Named } from '../../loop/plan.ts';

export interface Content {
  readonly kind: Kind;
  readonly objects: readonly Named[];
  /** The version of the list. */
  readonly resourceVersion: string;
}

export interface NamespaceContent {
  /** Kinds with remaining objects. */
  readonly contents: readonly Content[];
  /** Why the kinds are not known. */
  readonly undiscovered?: string;
  /** Why kinds could not be listed. */
  readonly unlisted: readonly string[];
}

export const NO_CONTENT: NamespaceContent = { contents: [], unlisted: [] };

interface Look {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** The kinds that are currently served. */
  readonly kinds: () => Iterable<Kind>;
}

export async function contentOf(namespace: string, { client, signal, kinds }: Look): Promise<NamespaceContent> {
  let served: Kind[];
  try {
    served = [...kinds()].filter(livesInNamespaces);
  } catch (error) {
    return { ...NO_CONTENT, undiscovered: (error as Error).message };
  }
  const unlisted: string[] = [];
  const lists = await Promise.all(
    served.map(async (kind): Promise<Content | undefined> => {
      try {
        const { items, metadata } = await client.of(kind).in(namespace).listAll({ signal });
        return { kind, objects: items, resourceVersion: metadata.resourceVersion };
      } catch (error) {
        signal.throwIfAborted();
        // The kind was removed meanwhile, or cannot be listed.
        if (!isApiError(error, 'NotFound', 'MethodNotAllowed')) unlisted.push((error as Error).message);
        return undefined;
      }
    }),
  );
  return { contents: lists.filter((list) => list !== undefined && list.objects.length > 0) as Content[], unlisted };
}

function livesInNamespaces({ scope, verbs }: Kind): boolean {
  return scope === 'Namespaced' && (!verbs || (verbs.includes('list') && verbs.includes('delete')));
}
