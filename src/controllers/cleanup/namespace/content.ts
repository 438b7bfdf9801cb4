/** Lists all objects in a namespace, of all kinds that are currently served, here or by other servers. */

import { isApiError } from '../../../api/errors.ts';
import type { ReadTools } from '../../loop/define.ts';
import type { Named } from '../../loop/plan.ts';
import { type AggregatedKinds, hasVerbs, type KindsOptions, type ServedKind } from '../../shared/aggregated-kinds.ts';

export interface Content {
  readonly kind: ServedKind;
  readonly objects: readonly Named[];
  /** Version of the list; empty when another server returns none. */
  readonly resourceVersion: string;
}

export interface NamespaceContent {
  /** Kinds with remaining objects. */
  readonly contents: readonly Content[];
  /** Why the kinds are not all known. */
  readonly undiscovered?: string;
  /** Why kinds could not be listed. */
  readonly unlisted: readonly string[];
}

export const NO_CONTENT: NamespaceContent = { contents: [], unlisted: [] };

interface Look extends ReadTools, KindsOptions {
  readonly unknownContent?: ((namespace: string) => readonly string[]) | undefined;
  readonly aggregated: AggregatedKinds;
}

export async function contentOf(namespace: string, look: Look): Promise<NamespaceContent> {
  const { client, signal, kinds, unknownContent = () => [], aggregated } = look;
  let served: ServedKind[];
  try {
    served = [...kinds(), ...aggregated.all()].filter(livesInNamespaces);
  } catch (error) {
    return { ...NO_CONTENT, undiscovered: (error as Error).message };
  }
  const stale = aggregated.stale();
  const unlisted = [...unknownContent(namespace)];
  const lists = await Promise.all(
    served.map(async (kind): Promise<Content | undefined> => {
      try {
        const { items, metadata } = await client
          .of(kind)
          .in(namespace)
          .listAll({ signal, ...metadataOnly(kind) });
        return { kind, objects: items, resourceVersion: metadata.resourceVersion };
      } catch (error) {
        signal.throwIfAborted();
        // The kind was removed meanwhile, or cannot be listed.
        if (!isApiError(error, 'NotFound', 'MethodNotAllowed')) unlisted.push((error as Error).message);
        return undefined;
      }
    }),
  );
  const contents = lists.filter((list) => list !== undefined && list.objects.length > 0) as Content[];
  return { contents, unlisted, undiscovered: stale.length > 0 ? discoveryFailure(stale) : undefined };
}

function livesInNamespaces(kind: ServedKind): boolean {
  return kind.scope === 'Namespaced' && hasVerbs(kind, 'list', 'delete');
}

/** Objects in this process are shared, and cost nothing. */
const metadataOnly = ({ isAggregated }: ServedKind) => (isAggregated ? { metadataOnly: true } : {});

/** Uses the wording of Kubernetes clients for failed API discovery. */
function discoveryFailure(stale: readonly string[]): string {
  const failures = stale.map((apiVersion) => `${apiVersion}: stale GroupVersion discovery: ${apiVersion}`).sort();
  const problem = `unable to retrieve the complete list of server APIs: ${failures.join(', ')}`;
  return `Discovery failed for some groups, ${stale.length} failing: ${problem}`;
}
