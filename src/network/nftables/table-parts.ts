/** The parts of a table with their owners, and the commands from one state to the next. */
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import type { DividedWork, Pace } from '../../base/event-loop/in-turns.ts';
import type { Command } from '../kernel/kernel.ts';
import { contentOfPart, keyOfPart, type Part } from './part.ts';

/** A part that was in the table before, one that is in it now, or both. */
interface Difference {
  readonly before: Part | undefined;
  readonly after: Part | undefined;
}

const NO_PARTS: readonly Part[] = Object.freeze([]);

export class TableParts {
  readonly #byOwner = new Map<string, readonly Part[]>();
  /** Parts by owner for each key. The first owner, in the order of names, has the key. */
  readonly #byKey = new Map<string, Map<string, Part>>();

  /** Replaces the parts of some owners. Returns what changed in the table. It must be done before the next one begins. */
  *replace(owners: ReadonlyMap<string, readonly Part[]>, pace: Pace): DividedWork<readonly Difference[]> {
    const before = new Map<string, Part | undefined>();
    const touch = (key: string) => {
      if (!before.has(key)) before.set(key, this.#winner(key));
    };
    for (const [owner, parts] of owners) {
      for (const part of this.#byOwner.get(owner) ?? NO_PARTS) {
        if (pace.isSpent()) yield;
        const key = keyOfPart(part);
        touch(key);
        this.#remove(key, owner);
      }
      for (const part of parts) {
        if (pace.isSpent()) yield;
        const key = keyOfPart(part);
        touch(key);
        this.#add(key, owner, part);
      }
      if (parts.length > 0) this.#byOwner.set(owner, parts);
      else this.#byOwner.delete(owner);
    }
    const differences: Difference[] = [];
    for (const [key, old] of before) {
      if (pace.isSpent()) yield;
      const after = this.#winner(key);
      if (!isSame(old, after)) differences.push({ before: old, after });
    }
    return differences;
  }

  /** Returns all parts of the table, as changes of an empty one. It must be done before the next `replace` begins. */
  *all(pace: Pace): DividedWork<readonly Difference[]> {
    const differences: Difference[] = [];
    for (const key of this.#byKey.keys()) {
      if (pace.isSpent()) yield;
      const after = this.#winner(key);
      if (after) differences.push({ before: undefined, after });
    }
    return differences;
  }

  #winner(key: string): Part | undefined {
    const owners = this.#byKey.get(key);
    if (!owners) return undefined;
    const [any] = owners.values();
    if (any?.isShared) return any;
    let first: string | undefined;
    for (const owner of owners.keys()) if (first === undefined || owner < first) first = owner;
    return first === undefined ? undefined : owners.get(first);
  }

  #add(key: string, owner: string, part: Part): void {
    const owners = this.#byKey.get(key);
    if (owners) owners.set(owner, part);
    else this.#byKey.set(key, new Map([[owner, part]]));
  }

  #remove(key: string, owner: string): void {
    const owners = this.#byKey.get(key);
    owners?.delete(owner);
    if (owners?.size === 0) this.#byKey.delete(key);
  }
}

function isSame(a: Part | undefined, b: Part | undefined): boolean {
  if (!a || !b) return a === b;
  return contentOfPart(a) === contentOfPart(b);
}

export interface Transition {
  readonly commands: readonly Command[];
  /** Chains that nothing leads to any more. They are empty after the commands, and can be deleted a moment later. */
  readonly stale: readonly string[];
}

/**
 * The commands for some differences, in an order in which everything that is referred to exists. Chains are emptied and not
 * deleted: kernels before 6.2 notice late that a map no longer refers to one.
 */
export function* transition(differences: readonly Difference[], pace: Pace): DividedWork<Transition> {
  const sets: Command[] = [];
  const chains: Command[] = [];
  const rules: Command[] = [];
  const unused: Command[] = [];
  const stale: string[] = [];
  const added = new Map<string, string[]>();
  const deleted = new Map<string, string[]>();
  for (const { before, after } of differences) {
    if (pace.isSpent()) yield;
    switch ((after ?? before)?.kind) {
      case 'element':
        if (before?.kind === 'element') push(deleted, before.set, elementText(before));
        if (after?.kind === 'element') push(added, after.set, elementText(after));
        break;
      case 'chain':
        if (after?.kind === 'chain') {
          chains.push({ do: 'add-chain', chain: after.name }, { do: 'flush-chain', chain: after.name });
          for (const rule of after.rules) rules.push({ do: 'add-rule', chain: after.name, rule });
        } else if (before?.kind === 'chain') {
          chains.push({ do: 'flush-chain', chain: before.name });
          stale.push(before.name);
        }
        break;
      case 'set':
        if (after?.kind === 'set') sets.push({ do: 'add-set', set: after.set });
        else if (before?.kind === 'set') unused.push({ do: 'delete-set', set: before.set.name });
        break;
    }
  }
  // They go with their set.
  for (const command of unused) if (command.do === 'delete-set') deleted.delete(command.set);
  const elements = (what: 'add-elements' | 'delete-elements', by: ReadonlyMap<string, readonly string[]>) =>
    [...by].map(([set, texts]): Command => ({ do: what, set, elements: texts }));
  return {
    commands: [
      ...[...sets, ...chains, ...rules, ...unused],
      ...[...elements('delete-elements', deleted), ...elements('add-elements', added)],
    ],
    stale,
  };
}

function elementText({ key, value }: Extract<Part, { kind: 'element' }>): string {
  return value === undefined ? key : `${key} : ${value}`;
}

function push(by: Map<string, string[]>, set: string, text: string): void {
  getOrInsert(by, set, () => []).push(text);
}
