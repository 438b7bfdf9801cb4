/** Quantities as plain numbers, each text read once: thousandths for processors, whole units for all else, rounded up. */
import { parseQuantity, scaled } from '../../base/quantity.ts';

const KEPT = 4096;

export const thousandths = remembered(3);
export const units = remembered(0);

function remembered(shift: number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    let found = known.get(text);
    if (found === undefined) {
      found = Number(scaled(parseQuantity(text), shift));
      if (known.size >= KEPT) known.clear();
      known.set(text, found);
    }
    return found;
  };
}
