/**
 * Converts JSON values to their declared types when they are read: `1` in a field of type number is a double, and a
 * string with the format `date-time` a timestamp.
 */
import { bulkCost } from '../cost/constants.ts';
import type { Type } from '../types/type.ts';
import { fail } from '../values/failure.ts';
import { double } from '../values/numbers.ts';
import { parseDuration, parseTimestamp } from '../values/time.ts';
import type { Value } from '../values/value.ts';
import { charge, type Frame } from './frame.ts';

type Coercion = (value: Value, frame: Frame) => Value;

/** Returns the conversion; undefined when JSON has the values of the type. */
export function coercionTo(type: Type): Coercion | undefined {
  switch (type.kind) {
    case 'double':
      return (value) => (typeof value === 'number' ? double(value) : value);
    case 'timestamp':
      return fromText((text) => parseTimestamp(text) ?? fail(`failed to parse "${text}" as a timestamp`));
    case 'duration':
      return fromText((text) => parseDuration(text) ?? fail(`time: invalid duration "${text}"`));
    case 'bytes':
      return fromText((text) => new Uint8Array(Buffer.from(text, 'base64')));
    default:
      return undefined;
  }
}

/** A long text is charged for each time that it is read. */
function fromText(convert: (text: string) => Value): Coercion {
  return (value, frame) => {
    if (typeof value !== 'string') return value;
    charge(frame, bulkCost(value.length));
    return convert(value);
  };
}
