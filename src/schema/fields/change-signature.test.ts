import { expect, it } from 'vitest';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { examples, kindOf, varied } from '../../../test/support/varied.ts';
import { decode } from '../decode/decode.ts';
import { ChangeSignatures } from './change-signature.ts';
import { compareFields } from './compare.ts';
import { sorted } from './field-set.ts';

const MAX_BYTES = 64 * 1024 * 1024;

/** Varies an object according to choices; returns undefined when the result is no longer of its kind. */
function variedObject(example: any, choices: readonly number[]): any {
  let next = 0;
  const tree = varied(structuredClone(example), () => choices[next++ % choices.length]!);
  try {
    const { kind, apiVersion } = example;
    return decode(kindOf(example)!.version.schema, { ...tree, kind, apiVersion });
  } catch {
    return undefined;
  }
}

const choices = fc.array(fc.nat(11), { minLength: 40, maxLength: 40 });

it('the signature is the same only for writes that change the same fields', () => {
  const signatures = new ChangeSignatures<string>(MAX_BYTES);
  const counts = { different: 0, repeated: 0 };
  const check = (version: any, before: any, after: any) => {
    const { added, modified, removed } = compareFields(version.schema, before, after);
    const changes = JSON.stringify([added, modified, removed].map(sorted));
    const found = signatures.of(version, before, after);
    if (!found) return;
    const { signature, identifier } = found;
    const template = identifier === undefined ? changes : changes.replaceAll(identifier, '*');
    counts[signature.value === undefined ? 'different' : 'repeated']++;
    signature.value ??= template;
    expect(signature.value).toBe(template);
  };
  forAll({ numRuns: 1500 }, fc.constantFrom(...examples), choices, choices, (example, one, other) => {
    const version = kindOf(example)?.version;
    if (!version) return;
    const [before, after] = [variedObject(example, one), variedObject(example, other)];
    if (!before || !after) return;
    check(version, before, after);
    check(version, after, before);
    check(version, structuredClone(before), before);
  });
  expect(counts.different).toBeGreaterThan(100);
  expect(counts.repeated).toBeGreaterThan(100);
});

const Pod = kindOf({ kind: 'Pod', apiVersion: 'v1' })!.version;
const pod = (status: object) => ({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' }, status });
const ready = (status: string, ...ips: string[]) =>
  pod({ podIPs: ips.map((ip) => ({ ip })), conditions: [{ type: 'Ready', status }] });

it('the signature does not depend on values and identifiers', () => {
  const signatures = new ChangeSignatures<string>(MAX_BYTES);
  const one = signatures.of(Pod, pod({}), ready('True', '10.0.0.1'))!;
  const other = signatures.of(Pod, pod({}), ready('False', '10.0.0.2'))!;
  expect(other.signature).toBe(one.signature);
  expect([one.identifier, other.identifier]).toEqual(['10.0.0.1', '10.0.0.2']);
});

it('the signature does not depend on which pods of a Job are not counted yet', () => {
  const signatures = new ChangeSignatures<string>(MAX_BYTES);
  const Job = kindOf({ kind: 'Job', apiVersion: 'batch/v1' })!.version;
  const job = (uncountedTerminatedPods: object) => ({ metadata: { name: 'a' }, status: { uncountedTerminatedPods } });
  const uids = ['0f1e2d3c-aaaa-bbbb-cccc-000000000001', '0f1e2d3c-aaaa-bbbb-cccc-000000000002'];
  const [one, other] = uids.map((uid) => signatures.of(Job, job({}), job({ succeeded: [uid] }))!);
  expect(other!.signature).toBe(one!.signature);
  expect([one!.identifier, other!.identifier]).toEqual(uids);
});

it('the signature does not mention identifiers that stay', () => {
  const signatures = new ChangeSignatures<string>(MAX_BYTES);
  const found = signatures.of(Pod, ready('True', '10.0.0.1'), ready('False', '10.0.0.1'))!;
  expect(found.identifier).toBeUndefined();
  const other = signatures.of(Pod, ready('True', '10.0.0.2', 'fd00::1'), ready('False', '10.0.0.2', 'fd00::1'))!;
  expect(other.signature).toBe(found.signature);
});

it('the signature is not made for lists whose items would have to be searched for too long, or cannot be told apart', () => {
  const signatures = new ChangeSignatures<string>(MAX_BYTES);
  const conditions = (count: number, status: string) =>
    pod({ conditions: Array.from({ length: count }, (_, index) => ({ type: `t${index}`, status })) });
  expect(signatures.of(Pod, conditions(16, 'True'), conditions(16, 'False'))).toBeDefined();
  expect(signatures.of(Pod, conditions(17, 'True'), conditions(17, 'False'))).toBeUndefined();
  const twice = pod({ conditions: [{ type: 'a' }, { type: 'a' }] });
  expect(signatures.of(Pod, conditions(1, 'True'), twice)).toBeUndefined();
});
