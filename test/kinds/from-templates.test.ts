/**
 * Tests the promise of `fromTemplates`: a spec that is valid in one object of the kind is valid in every other, so that
 * objects may share a spec that was validated once (docs/decisions/0012-shared-specs.md).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isApiError } from '../../src/api/errors.ts';
import { allKinds } from '../../src/kinds/all.ts';
import type { Kind, KubeObject } from '../../src/kinds/kind.ts';
import { decode } from '../../src/schema/decode/decode.ts';
import type { FieldError } from '../../src/schema/field-error.ts';
import type { ObjectSchema } from '../../src/schema/schema.ts';
import { validate } from '../../src/schema/validate.ts';
import { checkContent } from '../../src/server/objects/body/check.ts';
import { arbitrary } from './arbitrary.ts';

type WithSpec = KubeObject & { spec: object };

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples', 'kinds');
const kinds = allKinds.filter(({ fromTemplates }) => fromTemplates);
const context = { operation: 'create', old: undefined, subresource: undefined } as const;

const words = fc.constantFrom('a', 'b.c', 'web', 'kubernetes.io/config.mirror', 'app', 'x'.repeat(250));
/** Metadata of an object whose spec another one takes over: it is valid, or there would be little to compare. */
const validMetadata = fc.record({ name: fc.constantFrom('a', 'b.c', 'web') });
const metadata = fc.record({
  name: words,
  labels: fc.dictionary(words, words, { maxKeys: 2 }),
  annotations: fc.dictionary(words, words, { maxKeys: 2 }),
});

/** Random specs, mostly invalid, and parts of the example, valid where one part does not need another. */
function specsOf(kind: Kind): fc.Arbitrary<object> {
  const example = parse(readFileSync(join(EXAMPLES, `${kind.singular}.yaml`), 'utf8')).spec as Record<string, unknown>;
  const someOf = fc
    .subarray(Object.keys(example))
    .map((names) => Object.fromEntries(names.map((name) => [name, structuredClone(example[name])])));
  return fc.oneof(someOf, arbitrary(kind.hub.schema.fields.spec!) as fc.Arbitrary<object>);
}

const objectOf = ({ kind, hub }: Kind, meta: object, spec: object): WithSpec =>
  decode(hub.schema, { kind, apiVersion: hub.apiVersion, metadata: meta, spec }) as WithSpec;

/** Returns the errors that the server finds in an object; `checked` is a spec that it need not look at. */
function faultsOf(kind: Kind, object: KubeObject, checked?: object): unknown {
  try {
    checkContent(kind, object, { old: undefined, subresource: undefined, apiVersion: kind.hub.apiVersion, checked });
    return undefined;
  } catch (error) {
    if (isApiError(error)) return error.details?.causes;
    throw error;
  }
}

it('the kinds that controllers create from templates promise it', () => {
  expect(kinds.map(({ kind }) => kind)).toEqual(['Pod']);
});

describe.each(kinds)('$kind', (kind) => {
  const inSpec = ({ field }: FieldError) => field === 'spec' || field.startsWith('spec.') || field.startsWith('spec[');

  it('has no field rule in its spec that looks outside the spec', () => {
    const alone = kind.hub.schema.fields.spec as ObjectSchema;
    fc.assert(
      fc.property(metadata, specsOf(kind), (meta, given) => {
        const object = objectOf(kind, meta, given);
        // Alone, the spec is its own root and has no parent: a rule that looks further finds nothing or throws.
        const found = validate(alone, object.spec, context).map((each) => `${each.field}: ${each.message}`);
        const within = validate(kind.hub.schema, object, context).filter(inSpec);
        expect(within.map((each) => `${each.field.replace(/^spec\.?/, '')}: ${each.message}`)).toEqual(found);
      }),
    );
  });

  it('finds the same faults in an object whose spec was valid in another', () => {
    fc.assert(
      fc.property(validMetadata, metadata, specsOf(kind), (one, other, spec) => {
        fc.pre(!faultsOf(kind, objectOf(kind, one, spec)));
        const object = objectOf(kind, other, spec);
        expect(faultsOf(kind, object, object.spec)).toEqual(faultsOf(kind, object));
      }),
    );
  });

  it('gives the same warnings for an object whose spec gave none in another', () => {
    const warningsOf = (object: WithSpec, quiet?: object) => kind.warnings?.(object, undefined, quiet) ?? [];
    fc.assert(
      fc.property(validMetadata, metadata, specsOf(kind), (one, other, spec) => {
        const first = objectOf(kind, one, spec);
        fc.pre(!faultsOf(kind, first) && warningsOf(first).length === 0);
        const object = objectOf(kind, other, spec);
        expect(warningsOf(object, object.spec)).toEqual(warningsOf(object));
      }),
    );
  });
});
