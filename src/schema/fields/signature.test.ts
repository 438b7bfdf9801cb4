import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { allKinds } from '../../kinds/all.ts';
import { decode } from '../decode.ts';
import { compareFields } from './compare.ts';
import { sorted, union } from './field-set.ts';
import { signatureOf } from './signature.ts';
import { zeroObject } from './zero.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'examples', 'kinds');
const examples = readdirSync(FOLDER).flatMap((file) =>
  parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8')).map((each) => each.toJS() as any),
);
const schemaOf = ({ kind, apiVersion }: any) =>
  [...allKinds].find((each) => each.kind === kind)?.versions.find((each) => each.apiVersion === apiVersion)?.schema;

/** The tree with fewer fields and items, and other values, as `choose` says. */
function varied(value: any, choose: () => number): any {
  if (Array.isArray(value)) return value.filter(() => choose() % 4 > 0).map((item) => varied(item, choose));
  if (typeof value !== 'object' || value === null) return choose() % 3 > 0 ? value : otherValue(value);
  const kept = Object.entries(value).filter(([key]) => key === 'kind' || key === 'apiVersion' || choose() % 4 > 0);
  return Object.fromEntries(kept.map(([key, child]) => [key, key === 'kind' ? child : varied(child, choose)]));
}

const otherValue = (value: unknown) => (typeof value === 'string' ? `${value}x` : value);

it('is the same only for objects with the same fields', () => {
  const fieldsBySignature = new Map<string, string>();
  let repeated = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...examples),
      fc.array(fc.nat(11), { minLength: 40, maxLength: 40 }),
      (example, choices) => {
        const schema = schemaOf(example);
        if (!schema) return;
        let next = 0;
        const tree = varied(structuredClone(example), () => choices[next++ % choices.length]!);
        let object: any;
        try {
          object = decode(schema, { ...tree, kind: example.kind, apiVersion: example.apiVersion });
        } catch {
          return;
        }
        const { added, modified } = compareFields(schema, zeroObject(schema), object);
        const fields = JSON.stringify(sorted(union(modified, added)));
        const signature = `${example.apiVersion} ${example.kind} ${signatureOf(schema, object)}`;
        const known = fieldsBySignature.get(signature);
        if (known !== undefined) repeated++;
        expect(known ?? fields).toBe(fields);
        fieldsBySignature.set(signature, fields);
        // Values do not count, but for the keys of items.
        const renamed = { ...object, metadata: { ...object.metadata, name: 'another', uid: 'other' } };
        if (object.metadata?.name && object.metadata.uid)
          expect(signatureOf(schema, renamed)).toBe(signatureOf(schema, object));
      },
    ),
    { numRuns: 1500 },
  );
  expect(fieldsBySignature.size).toBeGreaterThan(100);
  expect(repeated).toBeGreaterThan(0);
});
