/** Breaks a tree in place, at one random place, in one of the ways in which clients do by mistake or on purpose. */
import type { Dice } from '../crash/random.ts';

const ODD_VALUES: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => -1,
  () => 1.5,
  () => 2 ** 53,
  () => 1e308,
  () => '',
  () => 'x'.repeat(70_000),
  () => '\ud800',
  () => '10.0.0.0/8',
  () => '%s%n$(x)',
  () => [],
  () => ({}),
  () => nested(400),
  () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}'),
];

/** Number of repetitions of a list item: usually a few, now and then as many as a body takes. */
const REPETITIONS = [2, 2, 3, 10, 100, 1_000, 30_000];
const MAX_REPEATED_BYTES = 2_000_000;

export function breakTree(root: Record<string, unknown>, dice: Dice): void {
  const holder = someHolder(root, dice);
  if (Array.isArray(holder) && holder.length > 0 && dice(2) === 0) {
    repeat(holder, dice);
    return;
  }
  const keys = Object.keys(holder);
  const key = keys.length > 0 && dice(4) > 0 ? keys[dice(keys.length)]! : `unknown${dice(10)}`;
  (holder as Record<string, unknown>)[key] = ODD_VALUES[dice(ODD_VALUES.length)]!();
}

function repeat(list: unknown[], dice: Dice): void {
  const item = list[dice(list.length)];
  const size = (JSON.stringify(item)?.length ?? 4) + 1;
  const wanted = REPETITIONS[dice(REPETITIONS.length)]!;
  const count = Math.min(wanted, Math.floor(MAX_REPEATED_BYTES / size));
  for (let i = 0; i < count; i++) list.push(structuredClone(item));
}

/** An object or list inside the tree, the tree itself included. */
function someHolder(root: object, dice: Dice): object {
  let holder = root;
  for (;;) {
    const inside = Object.values(holder).filter((value) => typeof value === 'object' && value !== null);
    if (inside.length === 0 || dice(3) === 0) return holder;
    holder = inside[dice(inside.length)] as object;
  }
}

function nested(depth: number): unknown {
  let value: unknown = {};
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
}
