import { isSealed, keyIdOf } from './envelope.ts';

/** Numbers of values encrypted with a key: current ones, and those in history. */
export interface KeyUse {
  readonly stored: number;
  readonly history: number;
}

/** Counts encrypted values by the ids of their keys. */
export class KeyUses {
  readonly #uses = new Map<string, { stored: number; history: number }>();

  add(value: Buffer, isNewest: boolean): void {
    if (!isSealed(value)) return;
    const id = keyIdOf(value);
    const use = this.#uses.get(id) ?? { stored: 0, history: 0 };
    if (isNewest) use.stored++;
    else use.history++;
    this.#uses.set(id, use);
  }

  of(id: string): KeyUse {
    return this.#uses.get(id) ?? { stored: 0, history: 0 };
  }
}
