/**
 * Remembers a value for all objects with the same fields, whatever the values of the fields are. It is found by a walk
 * along the tree of all earlier walks: the names of fields and the keys of list items lead from node to node, so that
 * nothing is copied or hashed where the fields are known. That costs a twentieth of making a set of them.
 */
import { MAX_SHARE } from '../../base/collections/bounded-map.ts';
import type { ObjectSchema } from '../schema.ts';

/** Step of a walk. Steps that are not names or keys are symbols, because names and keys may be any text. */
export type Token = string | number | symbol;

/** Node at which all walks with the same steps end. */
interface Signature<V> {
  /** Remembered value; undefined until it is set. */
  value: V | undefined;
}

export interface Found<V> {
  readonly signature: Signature<V>;
  /** The identifier that the walk came across, which is no part of the signature. */
  readonly identifier: string | undefined;
}

class Node<V> implements Signature<V> {
  value: V | undefined = undefined;
  /** The step that was taken last from here: most objects are like the one before. */
  next: Node<V> | undefined = undefined;
  others: Map<Token, Node<V>> | undefined = undefined;

  constructor(readonly token: Token) {}
}

export type AnyNode = Node<unknown>;

/** Moves a walk along the tree. */
export interface Steps {
  to(at: AnyNode, token: Token): AnyNode;
  /** Takes a step that is the same for every identifier. */
  toIdentifier(at: AnyNode, identifier: string): AnyNode;
}

/** Thing with a schema, such as the version of a kind. Two of them share nothing. */
export interface Described {
  readonly schema: ObjectSchema;
}

const START = Symbol('start');
const IDENTIFIER = Symbol('identifier');

/** End of a walk that finds nothing. No step leads there, and every step from there leads back. */
export const NOWHERE: AnyNode = new Node<never>(START);

/** Memory of a node with its place among the steps from another one. */
const NODE_BYTES = 200;

export class StepTree<V> implements Steps {
  #roots = new WeakMap<Described, Node<V>>();
  #bytes = 0;
  /** Size up to which a walk may add nodes: one object does not displace all others. */
  #walkLimit = 0;
  #identifier: string | undefined;

  /** Forgets everything when clients send more than `maxBytes` of different fields. */
  constructor(private readonly maxBytes: number) {}

  /** Estimated memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the end of a walk; undefined when nothing can be remembered for it. */
  find(described: Described, walk: (at: AnyNode, steps: Steps) => AnyNode): Found<V> | undefined {
    if (this.#bytes > this.maxBytes) {
      this.#roots = new WeakMap();
      this.#bytes = 0;
    }
    let root = this.#roots.get(described);
    if (!root) {
      root = new Node(START);
      this.#roots.set(described, root);
    }
    this.#walkLimit = this.#bytes + this.maxBytes * MAX_SHARE;
    this.#identifier = undefined;
    const end = walk(root, this);
    return end === NOWHERE ? undefined : { signature: end as Node<V>, identifier: this.#identifier };
  }

  to(at: AnyNode, token: Token): AnyNode {
    const { next } = at;
    return next !== undefined && next.token === token ? next : this.#other(at as Node<V>, token);
  }

  /** Gives up on a second identifier: the order of several would count, since sets of fields are sorted by them. */
  toIdentifier(at: AnyNode, identifier: string): AnyNode {
    if (this.#identifier !== undefined) return NOWHERE;
    this.#identifier = identifier;
    return this.to(at, IDENTIFIER);
  }

  #other(at: Node<V>, token: Token): AnyNode {
    if (at === NOWHERE) return NOWHERE;
    at.others ??= new Map();
    let next = at.others.get(token);
    if (!next) {
      if (this.#bytes > this.#walkLimit) return NOWHERE;
      const own = typeof token === 'string' ? internalized(token) : token;
      next = new Node(own);
      at.others.set(own, next);
      this.#bytes += NODE_BYTES + (typeof own === 'string' ? own.length * 2 : 0);
    }
    at.next = next;
    return next;
  }
}

/** Returns a copy of the string as V8 keeps names of properties, which is compared with other names by reference. */
function internalized(text: string): string {
  return Object.keys({ [text]: true })[0]!;
}
