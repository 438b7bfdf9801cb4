/** `quantity('1.5Gi')`: amounts of resources. */
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  QuantityError,
  scaled,
  subtractQuantities,
} from '../base/quantity.ts';
import { member, plain } from '../cel/libraries/declare.ts';
import type { Library } from '../cel/library.ts';
import { BOOL, DOUBLE, INT, opaqueType, STRING } from '../cel/types/type.ts';
import { fail } from '../cel/values/failure.ts';
import { double, int } from '../cel/values/numbers.ts';
import { OpaqueValue } from '../cel/values/value.ts';
import { NOMINAL, reading } from './costs.ts';

const TYPE = opaqueType('kubernetes.Quantity');

class QuantityValue extends OpaqueValue {
  readonly type = TYPE;

  constructor(readonly quantity: Quantity) {
    super();
  }

  equals({ quantity }: QuantityValue): boolean {
    return compareQuantities(this.quantity, quantity) === 0;
  }
}

function read(text: string): Quantity | QuantityError {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityError) return error;
    throw error;
  }
}

function quantityOf(text: string): QuantityValue {
  const quantity = read(text);
  if (quantity instanceof QuantityError) return fail(quantity.message);
  return new QuantityValue(quantity);
}

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** Returns the amount as a 64-bit integer; undefined if it is not one. */
function integerOf({ quantity }: QuantityValue): bigint | undefined {
  const whole = scaled(quantity, 0);
  const isExact = compareQuantities({ ...quantity, mantissa: whole, exponent: 0 }, quantity) === 0;
  return isExact && whole >= MIN_INT64 && whole <= MAX_INT64 ? whole : undefined;
}

const ofInt = (value: number | bigint): Quantity => ({ mantissa: BigInt(value), exponent: 0, format: 'DecimalSI' });

const compare = (a: QuantityValue, b: QuantityValue) => Math.sign(compareQuantities(a.quantity, b.quantity));

const signOf = ({ quantity: { mantissa } }: QuantityValue) => (mantissa > 0n ? 1 : mantissa < 0n ? -1 : 0);

const approximate = ({ quantity: { mantissa, exponent } }: QuantityValue) => double(Number(`${mantissa}e${exponent}`));

const add = (a: QuantityValue, b: Quantity) => new QuantityValue(addQuantities(a.quantity, b));
const subtract = (a: QuantityValue, b: Quantity) => new QuantityValue(subtractQuantities(a.quantity, b));

export const QUANTITY_LIBRARY: Library = {
  name: 'kubernetes.quantity',
  types: [TYPE],
  functions: [
    { name: 'quantity', overloads: [plain('string_to_quantity', [STRING], TYPE, quantityOf, reading())] },
    {
      name: 'isQuantity',
      overloads: [
        plain('is_quantity_string', [STRING], BOOL, (text) => !(read(text) instanceof QuantityError), reading()),
      ],
    },
    { name: 'sign', overloads: [member('quantity_sign', [TYPE], INT, signOf, NOMINAL)] },
    {
      name: 'isGreaterThan',
      overloads: [member('quantity_is_greater_than', [TYPE, TYPE], BOOL, (a, b) => compare(a, b) > 0, NOMINAL)],
    },
    {
      name: 'isLessThan',
      overloads: [member('quantity_is_less_than', [TYPE, TYPE], BOOL, (a, b) => compare(a, b) < 0, NOMINAL)],
    },
    { name: 'compareTo', overloads: [member('quantity_compare_to', [TYPE, TYPE], INT, compare, NOMINAL)] },
    {
      name: 'asApproximateFloat',
      overloads: [member('quantity_get_float', [TYPE], DOUBLE, approximate, NOMINAL)],
    },
    {
      name: 'asInteger',
      overloads: [
        member(
          'quantity_get_int',
          [TYPE],
          INT,
          (value) => int(integerOf(value) ?? fail('cannot convert value to integer')),
          NOMINAL,
        ),
      ],
    },
    {
      name: 'isInteger',
      overloads: [member('quantity_is_integer', [TYPE], BOOL, (value) => integerOf(value) !== undefined, NOMINAL)],
    },
    {
      name: 'add',
      overloads: [
        member('quantity_add', [TYPE, TYPE], TYPE, (a, b) => add(a, b.quantity), NOMINAL),
        member('quantity_add_int', [TYPE, INT], TYPE, (a, b) => add(a, ofInt(b)), NOMINAL),
      ],
    },
    {
      name: 'sub',
      overloads: [
        member('quantity_sub', [TYPE, TYPE], TYPE, (a, b) => subtract(a, b.quantity), NOMINAL),
        member('quantity_sub_int', [TYPE, INT], TYPE, (a, b) => subtract(a, ofInt(b)), NOMINAL),
      ],
    },
  ],
};
