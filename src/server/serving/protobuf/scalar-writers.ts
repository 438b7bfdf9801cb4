/** Encodes values that are scalars in JSON and messages in protobuf: the counterpart of scalars.ts. */
import type { ProtoWriter } from '../../../protocols/protobuf/writer.ts';
import type { StringSchema } from '../../../schema/schema.ts';

/** Writes a value, neither null nor undefined, as a field with this number. */
export type WriteValue = (out: ProtoWriter, number: number, value: never) => void;

export function stringWriter(format: StringSchema['format']): WriteValue {
  switch (format) {
    case undefined:
      return (out, number, value: string) => out.string(number, value);
    case 'bytes':
      return (out, number, value: string) => out.bytes(number, Buffer.from(value, 'base64'));
    case 'quantity':
      return writeQuantity;
    case 'time':
    case 'microTime':
      return writeTime;
    case 'duration':
      return writeDuration;
    default:
      return format satisfies never;
  }
}

/** Writes an int-or-string, whose first field is the type. */
export function writeIntOrString(out: ProtoWriter, number: number, value: number | string): void {
  const end = out.length;
  if (typeof value === 'string') {
    out.string(3, value);
    out.signed(1, 1);
  } else {
    out.signed(2, value);
    out.signed(1, 0);
  }
  out.wrap(number, end);
}

function writeQuantity(out: ProtoWriter, number: number, value: string | number): void {
  const end = out.length;
  out.string(1, String(value));
  out.wrap(number, end);
}

const NANOS_DIGITS = 9;

function writeTime(out: ProtoWriter, number: number, value: string): void {
  const milliseconds = Date.parse(value);
  if (Number.isNaN(milliseconds)) return;
  const fraction = /\.(\d+)/.exec(value)?.[1] ?? '';
  const end = out.length;
  out.signed(2, Number(fraction.slice(0, NANOS_DIGITS).padEnd(NANOS_DIGITS, '0')));
  out.signed(1, Math.floor(milliseconds / 1000));
  out.wrap(number, end);
}

const NANOSECONDS: Readonly<Record<string, number>> = {
  h: 3_600_000_000_000,
  m: 60_000_000_000,
  s: 1_000_000_000,
  ms: 1_000_000,
  us: 1_000,
  µs: 1_000,
  ns: 1,
};

/** Writes a duration such as `1m30s` as a number of nanoseconds. */
function writeDuration(out: ProtoWriter, number: number, value: string): void {
  let nanoseconds = 0;
  for (const [, amount, unit] of value.matchAll(/([\d.]+)(h|ms|us|µs|ns|m|s)/g)) {
    nanoseconds += Math.round(Number(amount) * NANOSECONDS[unit!]!);
  }
  const end = out.length;
  out.signed(1, value.startsWith('-') ? -nanoseconds : nanoseconds);
  out.wrap(number, end);
}
