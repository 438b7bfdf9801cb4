/** Reads the description of a fault, with the checks that the API has for the kind Fault. */
import { nearest } from '../../base/text/nearest.ts';
import { FaultSpec } from '../../kinds/groups/testing/fault-spec.ts';
import { decode } from '../../schema/decode/decode.ts';
import { validate } from '../../schema/validate.ts';
import { type FaultRule, ruleOfSpec } from '../../server/serving/faults/fault.ts';
import type { Duration, Fault } from '../contract.ts';
import { milliseconds } from '../time/time-control.ts';

/** Fields that are durations here, and milliseconds in the API. */
const DURATIONS: Readonly<Record<string, string>> = {
  latency: 'latencyMilliseconds',
  dropWatches: 'dropWatchesAfterMilliseconds',
  staleWatches: 'staleWatchesMilliseconds',
};

const OF_API = new Map(Object.entries(DURATIONS).map(([field, ofApi]) => [ofApi, field]));
const FIELDS = [...Object.keys(FaultSpec.fields).map((field) => OF_API.get(field) ?? field), 'times'];

/** Throws a TypeError that names what is wrong. */
export function readFault(fault: Fault): FaultRule {
  const given = Object.entries(fault ?? {}).filter(([, value]) => value !== undefined);
  const unknown = given.map(([field]) => field).filter((field) => !FIELDS.includes(field));
  if (unknown.length > 0) throw wrong(unknown.map(unknownField));
  const { times } = fault ?? {};
  if (times !== undefined && !(Number.isInteger(times) && times > 0)) {
    throw wrong([`times: Invalid value: ${times}: must be a whole number greater than 0`]);
  }
  const ofSpec = given.filter(([field]) => field !== 'times');
  const spec = decoded(
    Object.fromEntries(
      ofSpec.map(([field, value]) => {
        const ofApi = DURATIONS[field];
        return ofApi === undefined ? [field, value] : [ofApi, milliseconds(value as Duration)];
      }),
    ),
  );
  const errors = validate(FaultSpec, spec, { operation: 'create', old: undefined, subresource: undefined });
  if (errors.length > 0) throw wrong(errors.map(({ field, message }) => named(`${field}: ${message}`)));
  return { ...ruleOfSpec(spec), times };
}

function decoded(input: object): FaultSpec {
  try {
    return decode(FaultSpec, input);
  } catch (cause) {
    throw wrong([named((cause as Error).message)], cause);
  }
}

/** A message of the API with the field names of this library. */
const named = (message: string) => message.replace(/\w+Milliseconds\b/g, (field) => OF_API.get(field) ?? field);

function unknownField(field: string): string {
  const near = nearest(field, FIELDS);
  return `unknown field "${field}"${near === undefined ? '' : `; did you mean "${near}"?`}`;
}

function wrong(problems: readonly string[], cause?: unknown): TypeError {
  return new TypeError(`the fault is not valid: ${problems.join(', ')}`, { cause });
}
