/**
 * Sets of fields that many objects have in common, each stored once. Objects of one template differ in the identifiers
 * in their sets, such as the address of a pod or the uid of an owner, which are stored beside the set.
 */
import { BoundedMap, textBytes } from '../../../../base/collections/bounded-map.ts';
import { deepFreeze } from '../../../../base/json/tree.ts';
import { type FieldSet, sorted } from '../../../../schema/fields/field-set.ts';
import { IDENTIFIERS_IN_JSON } from '../../../../schema/fields/identifier.ts';

/** The JSON of a set, in the order of `fieldsV1`, split at identifiers. */
export interface SetTemplate {
  /** Identifies the template. One that was evicted and recreated has another id. */
  readonly id: number;
  readonly texts: readonly string[];
}

export interface InternedSet {
  readonly template: SetTemplate;
  /** The identifiers between the texts. */
  readonly identifiers: readonly string[];
}

const MAX_TEMPLATES_BYTES = 8 * 1024 * 1024;
const MAX_TREES_BYTES = 16 * 1024 * 1024;
/** Size of a tree in proportion to its JSON. */
const TREE_FACTOR = 8;

const ofTemplate = {
  maxBytes: MAX_TEMPLATES_BYTES,
  bytesOf: ({ texts }: SetTemplate) => texts.reduce((sum, text) => sum + textBytes(text), 0),
};
const templates = new BoundedMap<SetTemplate>(ofTemplate);
/** Templates by texts that are not in the order of `fieldsV1`, because sorting them is expensive. */
const unordered = new BoundedMap<SetTemplate>(ofTemplate);
const trees = new BoundedMap<FieldSet>({
  maxBytes: MAX_TREES_BYTES,
  bytesOf: (fields) => jsonOf(sets.get(fields)!).length * TREE_FACTOR,
});
const sets = new WeakMap<FieldSet, InternedSet>();
let lastId = 0;

/** Placeholder for an identifier in the text of a template. JSON never contains it. */
export const IDENTIFIER = '\u0001';
const NO_IDENTIFIERS: readonly string[] = Object.freeze([]);

export function internSet(fields: FieldSet): InternedSet {
  let set = sets.get(fields);
  if (!set) {
    set = ordered(fields);
    sets.set(fields, set);
  }
  return set;
}

function ordered(fields: FieldSet): InternedSet {
  const { text, identifiers } = divided(JSON.stringify(fields));
  // With several identifiers, the order of the set may depend on them.
  if (identifiers.length > 1) {
    const whole = divided(JSON.stringify(sorted(fields)));
    return { template: templateOf(whole.text), identifiers: whole.identifiers };
  }
  let template = unordered.get(text);
  if (!template) {
    template = templateOf(divided(JSON.stringify(sorted(fields))).text);
    unordered.set(text, template);
  }
  return { template, identifiers };
}

function divided(json: string): { readonly text: string; readonly identifiers: readonly string[] } {
  const identifiers = json.includes(':\\"') ? json.match(IDENTIFIERS_IN_JSON) : undefined;
  if (!identifiers) return { text: json, identifiers: NO_IDENTIFIERS };
  return { text: json.replace(IDENTIFIERS_IN_JSON, IDENTIFIER), identifiers: [...identifiers] };
}

export function templateOf(text: string): SetTemplate {
  let template = templates.get(text);
  if (!template) {
    template = { id: ++lastId, texts: text.split(IDENTIFIER) };
    templates.set(text, template);
  }
  return template;
}

function jsonOf({ template, identifiers }: InternedSet): string {
  const { texts } = template;
  let json = texts[0]!;
  identifiers.forEach((identifier, index) => {
    json += identifier + texts[index + 1]!;
  });
  return json;
}

export function sameSet(a: InternedSet, b: InternedSet): boolean {
  // A template may have been evicted and recreated.
  const isSameTemplate =
    a.template === b.template || a.template.texts.join(IDENTIFIER) === b.template.texts.join(IDENTIFIER);
  return isSameTemplate && a.identifiers.join() === b.identifiers.join();
}

export function fieldsJson(fieldsV1: unknown): string {
  const set = typeof fieldsV1 === 'object' && fieldsV1 !== null ? knownSet(fieldsV1) : undefined;
  return set ? jsonOf(set) : JSON.stringify(fieldsV1);
}

/** Returns the fields of a set; frozen. */
export function fieldsOf(set: InternedSet): FieldSet {
  const { template, identifiers } = set;
  // Comparing texts as long as a set would take longer than all other steps.
  const key = `${template.id} ${identifiers.join()}`;
  let fields = trees.get(key);
  if (!fields) {
    fields = deepFreeze(JSON.parse(jsonOf(set)) as FieldSet);
    sets.set(fields, set);
    trees.set(key, fields);
  }
  return fields;
}

/** Returns the set that a tree is known to be; undefined when it must be validated. */
function knownSet(tree: object): InternedSet | undefined {
  return sets.get(tree as FieldSet);
}
