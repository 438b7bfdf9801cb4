/** Decodes values that are messages in protobuf and scalars in JSON: times, quantities, durations. */
import { isUtf8 } from 'node:buffer';
import { ProtoReader } from '../../../protocols/protobuf/reader.ts';
import type { StringSchema } from '../../../schema/schema.ts';
import { DecodeError } from '../codec/decode-error.ts';

/** Returns a reader of the message in the current field. */
export function inner(wire: ProtoReader): ProtoReader {
  return new ProtoReader(wire.bytes());
}

export function readText(wire: ProtoReader): string {
  const bytes = wire.bytes();
  if (!isUtf8(bytes)) throw new DecodeError('the body is not valid UTF-8');
  return bytes.toString('utf8');
}

/** Reads a string; undefined when the client has set nothing. */
export function readString(wire: ProtoReader, format: StringSchema['format']): string | undefined {
  switch (format) {
    case undefined:
      return readText(wire);
    case 'bytes':
      return wire.bytes().toString('base64');
    case 'quantity':
      return readQuantity(inner(wire));
    case 'time':
      return readTime(inner(wire), 0);
    case 'microTime':
      return readTime(inner(wire), 6);
    case 'duration':
      return readDuration(inner(wire));
    default:
      return format satisfies never;
  }
}

/** Reads a number. JSON has neither NaN nor infinities. */
export function readNumber(wire: ProtoReader): number {
  const number = wire.double();
  if (!Number.isFinite(number)) throw new DecodeError('a number is not finite');
  return number;
}

/** Reads an int-or-string, whose first field is the type. */
export function readIntOrString(wire: ProtoReader): number | string {
  let isText = false;
  let number = 0;
  let text = '';
  for (let field = wire.next(); field; field = wire.next()) {
    if (field === 1) isText = wire.signed() === 1;
    else if (field === 2) number = wire.signed();
    else if (field === 3) text = readText(wire);
    else wire.skip();
  }
  return isText ? text : number;
}

function readQuantity(wire: ProtoReader): string | undefined {
  let text: string | undefined;
  for (let field = wire.next(); field; field = wire.next()) {
    if (field === 1) text = readText(wire);
    else wire.skip();
  }
  return text || undefined;
}

const NANOS_PER_SECOND = 1_000_000_000;

/** Reads a time. An unset one is an empty message. */
function readTime(wire: ProtoReader, digits: 0 | 6): string | undefined {
  let seconds: number | undefined;
  let nanos = 0;
  for (let field = wire.next(); field; field = wire.next()) {
    if (field === 1) seconds = wire.signed();
    else if (field === 2) nanos = wire.signed();
    else wire.skip();
  }
  if (seconds === undefined) return undefined;
  // Go accepts any number of nanoseconds.
  const carried = Math.floor(nanos / NANOS_PER_SECOND);
  const moment = new Date((seconds + carried) * 1000);
  if (Number.isNaN(moment.getTime())) throw new DecodeError('a time is out of range');
  const text = moment.toISOString().slice(0, -5);
  const micros = Math.floor((nanos - carried * NANOS_PER_SECOND) / 1000);
  return digits ? `${text}.${String(micros).padStart(6, '0')}Z` : `${text}Z`;
}

function readDuration(wire: ProtoReader): string {
  let nanos = 0;
  for (let field = wire.next(); field; field = wire.next()) {
    if (field === 1) nanos = wire.signed();
    else wire.skip();
  }
  return `${nanos}ns`;
}
