/** Values that are one text or number in JSON and a message in protobuf, read into what JSON would hold. */
import type { StringSchema } from '../../schema/schema.ts';
import { DecodeError } from '../http/decode-error.ts';
import type { Wire } from './wire.ts';

/** Undefined: the client has set nothing. */
export function readString(wire: Wire, format: StringSchema['format']): string | undefined {
  switch (format) {
    case undefined:
      return wire.text();
    case 'bytes':
      return wire.bytes().toString('base64');
    case 'quantity':
      return readQuantity(wire.message());
    case 'time':
      return readTime(wire.message(), 0);
    case 'microTime':
      return readTime(wire.message(), 6);
    case 'duration':
      return readDuration(wire.message());
    default:
      return format satisfies never;
  }
}

/** A number, or a text: which of them counts, the first field says. */
export function readIntOrString(wire: Wire): number | string {
  let isText = false;
  let number = 0;
  let text = '';
  while (wire.next()) {
    if (wire.number === 1) isText = wire.integer() === 1;
    else if (wire.number === 2) number = wire.integer();
    else if (wire.number === 3) text = wire.text();
    else wire.skip();
  }
  return isText ? text : number;
}

function readQuantity(wire: Wire): string | undefined {
  let text: string | undefined;
  while (wire.next()) {
    if (wire.number === 1) text = wire.text();
    else wire.skip();
  }
  return text || undefined;
}

/** A moment that is not set is an empty message. */
function readTime(wire: Wire, digits: 0 | 6): string | undefined {
  if (wire.isEmpty) return undefined;
  let seconds = 0;
  let nanos = 0;
  while (wire.next()) {
    if (wire.number === 1) seconds = wire.integer();
    else if (wire.number === 2) nanos = wire.integer();
    else wire.skip();
  }
  const moment = new Date(seconds * 1000);
  if (Number.isNaN(moment.getTime())) throw new DecodeError('a time is out of range');
  const text = moment.toISOString().slice(0, -5);
  const micros = Math.floor(nanos / 1000);
  return digits ? `${text}.${String(micros).padStart(6, '0')}Z` : `${text}Z`;
}

function readDuration(wire: Wire): string {
  let nanos = 0n;
  while (wire.next()) {
    if (wire.number === 1) nanos = wire.nanoseconds();
    else wire.skip();
  }
  return `${nanos}ns`;
}
