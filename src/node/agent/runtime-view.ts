/**
 * Sandboxes and containers that the runtime reports, by pod. They are listed again when the runtime reports a change and
 * after actions; lists that are asked for at the same time are made once.
 */
import type { Container, Containers, Sandbox } from '../runtime/runtime.ts';

export interface PodRecords {
  /** Newest first. */
  readonly sandboxes: readonly Sandbox[];
  /** The newest attempt of a name first. */
  readonly containers: readonly Container[];
}

const NONE: PodRecords = { sandboxes: [], containers: [] };

type Listing = ReadonlyMap<string, PodRecords>;

export interface RuntimeViewOptions {
  readonly runtime: Pick<Containers, 'sandboxes' | 'containers'>;
  /** Called with the UIDs of the pods whose records have changed. */
  readonly onChange: (uids: readonly string[]) => void;
}

export class RuntimeView {
  #listing: Listing = new Map();
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(private readonly options: RuntimeViewOptions) {}

  /** The records of a pod, as of the last list. */
  of(uid: string): PodRecords {
    return this.#listing.get(uid) ?? NONE;
  }

  /** Pods that the runtime has something of. */
  uids(): readonly string[] {
    return [...this.#listing.keys()];
  }

  /** Resolves when the view shows a list that was begun after this call. Rejects when the runtime does not answer. */
  refresh(): Promise<void> {
    if (!this.#current) {
      this.#current = this.#list().finally(() => {
        this.#current = undefined;
      });
      return this.#current;
    }
    this.#next ??= this.#current
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.refresh();
      });
    return this.#next;
  }

  async #list(): Promise<void> {
    const { runtime, onChange } = this.options;
    const [sandboxes, containers] = await Promise.all([runtime.sandboxes(), runtime.containers()]);
    const before = this.#listing;
    this.#listing = byPod(sandboxes, containers);
    const uids = new Set([...before.keys(), ...this.#listing.keys()]);
    const changed = [...uids].filter((uid) => !isSame(before.get(uid), this.#listing.get(uid)));
    if (changed.length > 0) onChange(changed);
  }
}

function byPod(sandboxes: readonly Sandbox[], containers: readonly Container[]): Listing {
  const listing = new Map<string, { sandboxes: Sandbox[]; containers: Container[] }>();
  const uidOf = new Map<string, string>();
  for (const sandbox of [...sandboxes].sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt)) {
    const { uid } = sandbox.pod;
    uidOf.set(sandbox.id, uid);
    const known = listing.get(uid) ?? { sandboxes: [], containers: [] };
    known.sandboxes.push(sandbox);
    listing.set(uid, known);
  }
  for (const container of [...containers].sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt)) {
    listing.get(uidOf.get(container.sandboxId) ?? '')?.containers.push(container);
  }
  return listing;
}

function isSame(a: PodRecords = NONE, b: PodRecords = NONE): boolean {
  return (
    a.sandboxes.length === b.sandboxes.length &&
    a.containers.length === b.containers.length &&
    a.sandboxes.every((each, at) => isSameSandbox(each, b.sandboxes[at])) &&
    a.containers.every((each, at) => isSameContainer(each, b.containers[at]))
  );
}

const isSameSandbox = (a: Sandbox, b: Sandbox | undefined) =>
  a.id === b?.id && a.isReady === b.isReady && a.addresses.join() === b.addresses.join();

const isSameContainer = (a: Container, b: Container | undefined) =>
  a.id === b?.id && a.state === b.state && a.startedAt === b.startedAt && a.finishedAt === b.finishedAt;
