/** The sockets that the daemon listens on, and those of the daemon that it will replace. */
import type { Listening, ListenOn } from '../../base/sockets/listening.ts';
import type { Door, DoorKind } from './calls.ts';

export type OpenDoor = (door: Door, on: ListenOn) => Promise<Listening>;

/** Gives the socket of another process. */
export type TakeDoor = (door: Door) => Promise<ListenOn>;

export interface Claim {
  readonly kinds: readonly DoorKind[];
  readonly address: string;
  /** Port; 0 for one that is free for all kinds, or any. */
  readonly port: number;
}

/** A port that is free for one protocol may be taken for the other. */
const MAX_PORT_ATTEMPTS = 20;

const keyOf = ({ kind, address, port }: Door) => `${kind} ${address} ${port}`;

export class Doors {
  readonly #open = new Map<string, { readonly door: Door; readonly listening: Listening }>();
  /** Doors of another process, which are listened on there until they are taken. */
  readonly #others: Map<string, Door>;

  constructor(
    private readonly openDoor: OpenDoor,
    others: readonly Door[] = [],
  ) {
    this.#others = new Map(others.map((door) => [keyOf(door), door]));
  }

  get all(): readonly Door[] {
    return [...this.#open.values()].map(({ door }) => door);
  }

  listening(door: Door): Listening | undefined {
    return this.#open.get(keyOf(door))?.listening;
  }

  /** Uses doors that are there, except for those in `taken`, or opens new ones. Says which are new. */
  async claim(claim: Claim, taken: ReadonlySet<string>): Promise<{ readonly port: number; readonly isNew: boolean }> {
    const found = this.held(claim, taken).filter((port) => claim.port === 0 || port === claim.port);
    if (found[0] !== undefined) return { port: found[0], isNew: false };
    for (let attempt = 1; ; attempt++) {
      try {
        return { port: await this.#openAll(claim), isNew: true };
      } catch (error) {
        const isChosen = claim.port !== 0 || claim.kinds.length === 1;
        if (isChosen || attempt === MAX_PORT_ATTEMPTS) throw error;
      }
    }
  }

  /** Takes over the claimed doors of another process. */
  async takeOthers(claimed: ReadonlySet<string>, take: TakeDoor): Promise<void> {
    for (const [key, door] of this.#others) {
      this.#others.delete(key);
      if (claimed.has(key)) await this.#add(door, await take(door));
    }
  }

  /** Removes doors. Resolves with those that are still to be released. */
  remove(isRemoved: (key: string) => boolean): readonly Listening[] {
    const removed = [...this.#open].filter(([key]) => isRemoved(key));
    for (const [key] of removed) this.#open.delete(key);
    return removed.map(([, { listening }]) => listening);
  }

  /** Returns the ports of doors for all the kinds, except for those in `taken`. */
  held({ kinds, address }: Omit<Claim, 'port'>, taken: ReadonlySet<string>): readonly number[] {
    const all = [...this.all, ...this.#others.values()];
    const ports = all.filter((door) => door.kind === kinds[0] && door.address === address).map((door) => door.port);
    const isHeld = (key: string) => (this.#open.has(key) || this.#others.has(key)) && !taken.has(key);
    return ports.filter((port) => Doors.keysOf({ kinds, address }, port).every(isHeld));
  }

  static keysOf({ kinds, address }: Omit<Claim, 'port'>, port: number): readonly string[] {
    return kinds.map((kind) => keyOf({ kind, address, port }));
  }

  async #openAll(claim: Claim): Promise<number> {
    const { address, kinds } = claim;
    let { port } = claim;
    const added = new Set<string>();
    try {
      for (const kind of kinds) {
        port = await this.#add({ kind, address, port }, { address, port });
        added.add(keyOf({ kind, address, port }));
      }
    } catch (error) {
      await Promise.all(this.remove((key) => added.has(key)).map((each) => each.close()));
      throw error;
    }
    return port;
  }

  async #add({ kind, address, port: asked }: Door, on: ListenOn): Promise<number> {
    const listening = await this.openDoor({ kind, address, port: asked }, on);
    const port = asked === 0 ? listening.port : asked;
    const door = { kind, address, port };
    this.#open.set(keyOf(door), { door, listening });
    return port;
  }
}
