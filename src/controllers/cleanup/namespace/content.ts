/** What is in a namespace: all objects of all kinds that the server serves at this moment. */
import { isApiError } from '../../../base/errors.ts';
import type { Client } from '../../../client/client.ts';
import type { Kind } from '../../../kinds/kind.ts';
import type { Named } from '../../loop/plan.ts';

export interface Content {
  readonly kind: Kind;
  readonly objects: readonly Named[];
  /** The version that the list shows. */
  readonly resourceVersion: string;
}

export interface NamespaceContent {
  /** Kinds of which there is something. */
  readonly contents: readonly Content[];
  /** Why the kinds are not known, when they are not. */
  readonly undiscovered?: string;
  /** Why kinds could not be listed. */
  readonly unlisted: readonly string[];
}

export const NOTHING: NamespaceContent = { contents: [], unlisted: [] };

interface Look {
  readonly client: Client;
  readonly signal: AbortSignal;
  /** The kinds that are served now. */
  readonly kinds: () => Iterable<Kind>;
}

export async function contentOf(namespace: string, { client, signal, kinds }: Look): Promise<NamespaceContent> {
  let served: Kind[];
  try {
    served = [...kinds()].filter(livesInNamespaces);
  } catch (error) {
    return { ...NOTHING, undiscovered: (error as Error).message };
  }
  const unlisted: string[] = [];
  const lists = await Promise.all(
    served.map(async (kind): Promise<Content | undefined> => {
      try {
        const { items, metadata } = await client.of(kind).in(namespace).listAll({ signal });
        return { kind, objects: items, resourceVersion: metadata.resourceVersion };
      } catch (error) {
        signal.throwIfAborted();
        // The kind went away after it was counted, or never had objects to list.
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
