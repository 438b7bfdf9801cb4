/**
 * Remembers writes to members: an object that a member reads back with other defaults is not written again and again.
 * An edit by another client changes its version, and is reverted.
 */
import { createHash } from 'node:crypto';
import type { AnyObject, DeepReadonly } from '../../api/object-types.ts';

interface Written {
  readonly content: string;
  readonly version: string;
}

export class Settled {
  readonly #written = new Map<string, Written>();

  /** `key` identifies the object and the member. */
  add(key: string, desired: DeepReadonly<AnyObject>, result: DeepReadonly<AnyObject>): void {
    this.#written.set(key, { content: contentOf(desired), version: versionOf(result) });
  }

  has(key: string, desired: DeepReadonly<AnyObject>, actual: DeepReadonly<AnyObject>): boolean {
    const found = this.#written.get(key);
    return found !== undefined && found.version === versionOf(actual) && found.content === contentOf(desired);
  }

  forget(key: string): void {
    this.#written.delete(key);
  }
}

/** A digest of everything that the federation decides. */
function contentOf({ metadata: { labels }, status: _, ...rest }: DeepReadonly<AnyObject>): string {
  return createHash('sha256')
    .update(JSON.stringify([labels, rest]))
    .digest('base64');
}

/** Changes with the content; where a generation counts, not with the status. */
function versionOf({ metadata: { generation, labels, resourceVersion } }: DeepReadonly<AnyObject>): string {
  return generation ? `generation ${generation} ${JSON.stringify(labels)}` : `version ${resourceVersion}`;
}
