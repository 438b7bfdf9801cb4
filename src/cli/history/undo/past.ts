/**
 * The states that an object has been in, each with the one before it. An undo returns to an earlier state and continues from
 * there, so states form a tree: after an undo, the state before is that of the state which it returned to.
 */

import { clientContent } from '../../../api/undo/content.ts';
import { undoMarkOf } from '../../../api/undo/undo-mark.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import type { KubeObject } from '../../../kinds/kind.ts';

export interface ObjectEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The object after the change; when it was deleted, before it, with the version of the deletion. */
  readonly object: KubeObject;
}

export interface State {
  /** The newest version with this content. */
  readonly object: KubeObject;
  readonly content: object;
  /** `created`: the object began with this state. `unknown`: what was before is older than the history. */
  readonly before: State | 'created' | 'unknown';
}

/** History of one name: objects that were deleted and created again included. */
export interface ObjectPast {
  /** As it was when history begins; undefined: it did not exist. */
  readonly first: KubeObject | undefined;
  /** Events since then, oldest first. */
  readonly events: readonly ObjectEvent[];
  /** As it is; undefined: it does not exist. */
  readonly now: KubeObject | undefined;
}

interface Version {
  readonly resourceVersion: string;
  readonly state: State;
  readonly isDeleted: boolean;
}

export class Past {
  /** Oldest first. */
  readonly #versions: Version[] = [];
  readonly #byVersion = new Map<string, Version>();

  constructor({ first, events, now }: ObjectPast) {
    if (first) this.#add({ type: 'MODIFIED', object: first });
    for (const event of events) this.#add(event);
    // It may have changed after the events were read.
    if (now && now.metadata.resourceVersion !== this.last?.resourceVersion)
      this.#add({ type: 'MODIFIED', object: now });
  }

  /** The newest version; of an object that does not exist, the deletion. */
  get last(): Version | undefined {
    return this.#versions.at(-1);
  }

  /** The state at a `resourceVersion` of the cluster; undefined when the object did not exist, or nothing is known. */
  at(resourceVersion: string): State | undefined {
    const limit = BigInt(resourceVersion);
    const found = this.#versions.findLast((each) => BigInt(each.resourceVersion) <= limit);
    return found?.isDeleted ? undefined : found?.state;
  }

  #add(event: ObjectEvent): void {
    const { type, object } = event;
    const { resourceVersion = '' } = object.metadata;
    const content = clientContent(object);
    const state = { object, content, before: this.#before(event, content) };
    const version = { resourceVersion, state, isDeleted: type === 'DELETED' };
    this.#versions.push(version);
    this.#byVersion.set(resourceVersion, version);
  }

  #before({ type, object }: ObjectEvent, content: object): State['before'] {
    const { last } = this;
    const mark = undoMarkOf(object);
    // The undo may have replaced a version that is not here, of which only the status was new.
    if (mark && last && BigInt(mark.from) >= BigInt(last.resourceVersion))
      return this.#byVersion.get(mark.to)?.state.before ?? 'unknown';
    if (!last || last.isDeleted || last.state.object.metadata.uid !== object.metadata.uid) {
      return type === 'ADDED' ? 'created' : 'unknown';
    }
    // While it is being deleted, only finalizers go.
    const isSame = object.metadata.deletionTimestamp !== undefined || deepEqual(last.state.content, content);
    return isSame ? last.state.before : last.state;
  }
}
