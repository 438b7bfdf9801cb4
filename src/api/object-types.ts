/** Types of objects that a client returns and sends. */
import type { KubeObject } from '../kinds/kind.ts';

type IsAny<T> = 0 extends 1 & T ? true : false;

/** An object that a client returns: it is shared. */
export type DeepReadonly<T> =
  IsAny<T> extends true
    ? T
    : T extends (infer Item)[]
      ? readonly DeepReadonly<Item>[]
      : T extends object
        ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
        : T;

/** An object to send: the server fills in missing fields. It is copied, so it may contain parts of others. */
export type Draft<T> =
  IsAny<T> extends true
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Draft<Item>[]
      : T extends object
        ? { readonly [K in keyof T]?: Draft<T[K]> }
        : T;

/** An object of any kind or version, whose fields are not typed. */
export type AnyObject = KubeObject & Record<string, any>;

/** The properties of a kind that the client uses. Every `Kind` has them. */
export interface KindRef<T = any> {
  /** Only for type inference. */
  readonly _type?: T;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly hub: { readonly apiVersion: string };
  /** True when an aggregated API server serves the kind. */
  readonly isAggregated?: true;
}

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
