/**
 * The subresources that a kind can have. A kind declares those it has by name; how the server serves each of them is
 * described in `src/server/operations/subresources`, which has a descriptor for every name of this list.
 */

/** Declaration of each subresource of a kind: `true`, or the path in the object at which it finds its values. */
interface SubresourceDeclarations {
  readonly approval: true;
  readonly attach: true;
  readonly binding: true;
  readonly ephemeralcontainers: true;
  readonly eviction: true;
  readonly exec: true;
  readonly explain: true;
  readonly finalize: true;
  readonly log: true;
  readonly portforward: true;
  readonly proxy: true;
  readonly resize: true;
  readonly rollback: true;
  readonly scale: ScaleDefinition;
  readonly status: true;
  readonly token: true;
}

/** A closed set: a kind that names another one does not compile. */
export type SubresourceName = keyof SubresourceDeclarations;

export type KindSubresources = Partial<SubresourceDeclarations>;

export interface ScaleDefinition {
  /** Field paths, such as `spec.replicas`. */
  readonly replicas: string;
  readonly observed: string;
  /** Path of the selector: an object with `matchLabels`, or a plain map of labels. */
  readonly selector: string;
}
