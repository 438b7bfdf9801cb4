/** Reads the `fieldPath` of a rule, such as `.spec['a.b']`. */
import { type JsonSchema, propertyOf, valuesOf } from '../../../json-schema/json-schema.ts';

/** A quoted name ends at a quote that is not escaped. */
const STEP = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/y;

const ESCAPED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
};

/** Returns the path as errors show it; undefined if the schema has no such field. */
export function rulePath(schema: JsonSchema, path: string): string | undefined {
  let at: JsonSchema | undefined = schema;
  let shown = '';
  let end = 0;
  const step = new RegExp(STEP);
  while (end < path.length) {
    step.lastIndex = end;
    const [whole, plain, quoted] = step.exec(path) ?? [];
    if (whole === undefined || !at) return undefined;
    end += whole.length;
    const name = plain ?? unescaped(quoted ?? '');
    if (name === undefined) return undefined;
    if (at.properties) {
      at = propertyOf(at, name);
      if (!at) return undefined;
      shown += shown ? `.${name}` : name;
    } else {
      at = valuesOf(at);
      if (!at) return undefined;
      shown += `[${name}]`;
    }
  }
  return shown;
}

function unescaped(text: string): string | undefined {
  let isValid = true;
  const plain = text.replace(/\\(.)/gs, (_, letter: string) => {
    isValid &&= Object.hasOwn(ESCAPED, letter);
    return ESCAPED[letter] ?? '';
  });
  return isValid ? plain : undefined;
}
