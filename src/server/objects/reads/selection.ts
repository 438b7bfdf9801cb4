import type { Call } from '../../../api/call.ts';
import { badRequest } from '../../../api/errors.ts';
import type { Sized } from '../../../api/reply.ts';
import { type DividedWork, inTurns, type Pace } from '../../../base/event-loop/in-turns.ts';
import type { TurnBudget } from '../../../base/event-loop/turn-budget.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import {
  type FieldRequirement,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
} from '../../../schema/selector/selector.ts';
import type { Entry } from '../cache/entry/entry.ts';
import type { ObjectKey } from '../cache/keys.ts';
import type { Resource } from '../registry/registry.ts';

/** Fields by which all kinds can be selected; they are the same in all versions. */
const METADATA_FIELDS: Readonly<Record<string, (object: KubeObject) => string>> = {
  'metadata.name': ({ metadata }) => metadata.name ?? '',
  'metadata.namespace': ({ metadata }) => metadata.namespace ?? '',
};

/** Fields that can be read from the key of an object. */
const KEY_FIELDS: Readonly<Record<string, (at: ObjectKey) => string>> = {
  'metadata.name': ({ name }) => name,
  'metadata.namespace': ({ namespace }) => namespace,
};

export interface Selection {
  /** The version in which the selection reads objects: asynchronous conversions must prepare it. */
  readonly reads: Resource;
  readonly matches: (entry: Entry) => boolean;
  /** A text that is equal for selections that certainly match the same objects. */
  readonly text: string;
}

/** Creates the selection of a call from its selectors, and from the name if it is about one object. */
export function selectionOf(resource: Resource, call: Call): Selection {
  const { kind } = resource;
  const { labelSelector = '', fieldSelector = '', includeUninitialized = false } = call.options ?? {};
  const check = checkOf(resource, call);
  const reads = isAboutShown(resource, fieldSelector) ? resource : { kind, version: kind.hub };
  const isNamed = keyCheckOf(fieldSelector, call.name);
  const isPlain = !labelSelector && !fieldSelector && !call.name;
  return {
    reads,
    // Without selectors, only objects that may have initializers or may be unreadable have to be decoded.
    matches: (entry) =>
      (isPlain && entry.isKnownInitialized(kind)) || (isNamed(entry.at) && check(entry.view(reads).object)),
    text: `${labelSelector}\n${fieldSelector}\n${call.name ?? ''}\n${includeUninitialized}`,
  };
}

/** Returns the name check of a valid selection: an object with another name does not have to be decoded. */
function keyCheckOf(fieldSelector: string, wanted: string | undefined): (at: ObjectKey) => boolean {
  const requirements = parseFieldSelector(fieldSelector).filter(({ field }) => Object.hasOwn(KEY_FIELDS, field));
  return (at) => {
    if (wanted && at.name !== wanted) return false;
    return requirements.every(({ field, op, value }) => (KEY_FIELDS[field]!(at) === value) === (op === '='));
  };
}

/** Reports whether a valid selector must read objects in the version of the resource. */
function isAboutShown({ kind, version }: Resource, fieldSelector: string): boolean {
  if (!version.selectsShown || version === kind.hub) return false;
  return parseFieldSelector(fieldSelector).some(({ field }) => !Object.hasOwn(METADATA_FIELDS, field));
}

/** Creates a predicate on objects in the stored version, or that of the resource. Throws BadRequest if invalid. */
export function checkOf(resource: Resource, call: Call): (object: KubeObject) => boolean {
  const { labelSelector = '', fieldSelector = '', includeUninitialized = false } = call.options ?? {};
  const checks: ((object: KubeObject) => boolean)[] = [];
  try {
    const labels = parseLabelSelector(labelSelector);
    if (!labels.empty) checks.push((object) => labels.matches(object.metadata.labels));
    for (const requirement of parseFieldSelector(fieldSelector)) checks.push(fieldCheck(resource, requirement));
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message, error);
    throw error;
  }
  if (call.name) checks.unshift((object) => object.metadata.name === call.name);
  // Objects with pending initializers are hidden unless the client asks for them.
  if (!includeUninitialized) checks.push((object) => !object.metadata.initializers?.pending?.length);
  return (object) => {
    for (const check of checks) if (!check(object)) return false;
    return true;
  };
}

function fieldCheck(resource: Resource, { field, op, value }: FieldRequirement): (object: KubeObject) => boolean {
  const read = reader(resource, field);
  return op === '=' ? (object) => read(object) === value : (object) => read(object) !== value;
}

function reader({ version }: Resource, field: string): (object: KubeObject) => string {
  if (Object.hasOwn(METADATA_FIELDS, field)) return METADATA_FIELDS[field]!;
  const selectable = version.selectable ?? {};
  if (Object.hasOwn(selectable, field)) return selectable[field]!;
  throw badRequest(
    version.selectable
      ? `field label not supported: ${field}`
      : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

/** Number of objects below which the clock is not checked, unless they are large. */
const MIN_DIVIDED = 256;
/** Number of objects, and bytes, between checks of the clock, which take some milliseconds to read. */
const STEP = 32;
const STEP_BYTES = 256 * 1024;

/**
 * Passes objects to `read`, over several turns of the event loop when it takes long: objects that have not been
 * requested are kept as bytes alone, and decoding one may take milliseconds. Returns undefined when done.
 */
export function readInTurns<T extends Sized>(
  budget: TurnBudget,
  objects: readonly T[],
  read: (object: T) => void,
): Promise<void> | undefined {
  return inTurns(budget, reading(objects, read, budget)) ?? undefined;
}

/** Reports whether reading may take more than one turn. */
export function mayTakeTurns(objects: readonly Sized[]): boolean {
  if (objects.length >= MIN_DIVIDED) return true;
  let bytes = 0;
  for (const { size } of objects) bytes += size;
  return bytes > STEP_BYTES;
}

function* reading<T extends Sized>(objects: readonly T[], read: (object: T) => void, pace: Pace): DividedWork<void> {
  const step = objects.length < MIN_DIVIDED ? Number.POSITIVE_INFINITY : STEP;
  let count = 0;
  let bytes = 0;
  for (const object of objects) {
    if (count > 0 && (count >= step || bytes + object.size > STEP_BYTES)) {
      if (pace.isSpent()) yield;
      count = 0;
      bytes = 0;
    }
    count++;
    bytes += object.size;
    read(object);
  }
}
