/** Quantities as plain numbers, each text read once: thousandths for processors, whole units for all else, rounded up. */
import { parseQuantity } from '../../base/quantity.ts';

const KEPT = 4096;

export const thousandths = remembered(3);
export const units = remembered(0);

function remembered(shift: number): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    let found = known.get(text);
    if (found === undefined) {
      found = rounded(text, shift);
      if (known.size >= KEPT) known.clear();
      known.set(text, found);
    }
    return found;
  };
}

function rounded(text: string, shift: number): number {
  const { mantissa, exponent } = parseQuantity(text);
  const power = exponent + shift;
  if (power >= 0) return Number(mantissa * 10n ** BigInt(power));
  const divisor = 10n ** BigInt(-power);
  const whole = mantissa / divisor;
  return Number(mantissa > 0n && mantissa % divisor !== 0n ? whole + 1n : whole);
}
