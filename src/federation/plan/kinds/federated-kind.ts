/** Describes how a kind is propagated, besides its definition. */
import type { AnyObject, DeepReadonly } from '../../../api/object-types.ts';
import type { Kind } from '../../../kinds/kind.ts';

/** Input of a share besides its size. */
interface ShareContext {
  readonly actual: DeepReadonly<AnyObject> | undefined;
  /** The sum of the shares of the clusters before it, so that parts that are rounded add up to the whole. */
  readonly before: number;
}

export interface FederatedKind {
  readonly kind: Kind;
  /** Division of replicas, for kinds that divide them between clusters. */
  readonly replicas?: {
    readonly annotation: string;
    of(object: DeepReadonly<AnyObject>): number;
    set(desired: AnyObject, replicas: number, share: ShareContext): void;
    /** Reports whether members without the object get none, because the others have all of it. */
    isPlaced?(federated: DeepReadonly<AnyObject>, members: readonly DeepReadonly<AnyObject>[]): boolean;
    /** True when a cluster without a share does not keep the object. */
    readonly removesEmpty?: boolean;
  };
  /**
   * Replaces in `desired`, a copy of the federated object, the fields that each cluster decides by itself with those of
   * the member. `actual` is undefined when the object is yet to be created.
   */
  localize?(desired: AnyObject, actual: DeepReadonly<AnyObject> | undefined): void;
  /** True when a member keeps most of the spec that the object was created with: overrides then apply on creation. */
  readonly isFixedByCreation?: boolean;
  /** The status of the federated object; `members` are the objects in the clusters that are not down. */
  gather?(members: readonly DeepReadonly<AnyObject>[], federated: DeepReadonly<AnyObject>): object;
}

/** A count in an object as a member has it, which may be anything there. */
export function countIn(value: unknown, otherwise: number): number {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : otherwise;
}

/** Adds up numbers of the members' statuses; fields that no member has are left out. */
export function sums(
  members: readonly DeepReadonly<AnyObject>[],
  fields: readonly string[],
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const found = members.map(({ status }) => status?.[field]).filter((value) => typeof value === 'number');
      return found.length === 0 ? [] : [[field, found.reduce((sum, value) => sum + value, 0)]];
    }),
  );
}

/** Addresses of the load balancers in all members. */
export function gatherLoadBalancers(members: readonly DeepReadonly<AnyObject>[]): object {
  const ingress = members.flatMap(({ status }) => status?.loadBalancer?.ingress ?? []);
  return { loadBalancer: ingress.length === 0 ? {} : { ingress } };
}
