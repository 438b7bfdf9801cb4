/** The types of objects on their way out of and into a client. */
import type { KubeObject } from '../kinds/kind.ts';

type IsAny<T> = 0 extends 1 & T ? true : false;

/** An object as a client gives it out: others hold it too. */
export type DeepReadonly<T> =
  IsAny<T> extends true
    ? T
    : T extends (infer Item)[]
      ? readonly DeepReadonly<Item>[]
      : T extends object
        ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
        : T;

/** An object as it is sent: the server fills in what is left out. It is copied, so it may contain parts of others. */
export type Draft<T> =
  IsAny<T> extends true
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Draft<Item>[]
      : T extends object
        ? { readonly [K in keyof T]?: Draft<T[K]> }
        : T;

/** An object whose fields the type checker does not know: in a version other than the stored one, or of any kind. */
export type AnyObject = KubeObject & Record<string, any>;

/** What the client needs to know of a kind. Every `Kind` is one. */
export interface KindRef<T = any> {
  /** Only for the type checker. */
  readonly _type?: T;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly hub: { readonly apiVersion: string };
}
