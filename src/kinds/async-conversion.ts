import type { KubeObject, Version } from './kind.ts';

/**
 * Converts the objects of a kind between its versions by asking somebody else, such as a webhook. A kind that has it
 * declares no `toHub` and `fromHub`. Kinds that have none are converted synchronously, and nothing waits for them.
 */
export interface AsyncConversion {
  /**
   * Converts objects of one version to another. `objects` are decoded, with the defaults of their version, and may be
   * taken over. Resolves with as many objects in the same order, which fit the schema of `target`; a conversion changes
   * neither names nor other metadata but labels and annotations. Rejects with an ApiError, which fails the request.
   */
  convert(objects: readonly KubeObject[], target: Version): Promise<readonly KubeObject[]>;
}
