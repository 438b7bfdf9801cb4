/**
 * Sharing specs (`SpecInterner`) is invisible: a pod created after others of its template comes out as if it were the first,
 * with the same object, errors and warnings. One server gets all pods; each is also sent to a fresh server. `FUZZ_RUNS` sets
 * how many templates are generated.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { type Call, RequestNotes } from '../../src/api/call.ts';
import { isApiError } from '../../src/api/errors.ts';
import type { ObjectReply } from '../../src/api/reply.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { SpecInterner } from '../../src/server/objects/body/spec-interner.ts';
import { admissionPlugins } from '../../src/server/operations/admission/all.ts';
import { admissionPluginNames } from '../../src/server/operations/admission/names.ts';
import { keepingItsPromise } from '../support/admission.ts';
import { type TestServer, testServer } from '../support/server.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 10);
const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'kinds', 'pod.yaml');
const example = parse(readFileSync(EXAMPLE, 'utf8')).spec as Record<string, unknown>;
/** A valid spec that is large enough to be remembered. */
const sure = {
  containers: ['web', 'worker'].map((name) => ({
    name,
    image: 'shop:1',
    args: ['--config=/etc/shop/config.yaml', '--listen=0.0.0.0:8080', '--log-level=info', '--workers=4'],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
  })),
};
const NEEDED = new Set(['containers']);
const LEFT_OUT = Object.keys(example).filter((field) => !NEEDED.has(field));

/** The example, without some of its fields. */
const specs = fc.tuple(fc.subarray(LEFT_OUT), fc.boolean()).map(([left, isWhole]) => {
  const spec = structuredClone(example);
  if (!isWhole) for (const field of left) delete spec[field];
  return spec;
});

const metadata = fc.record(
  {
    labels: fc.dictionary(fc.constantFrom('app', 'tier', 'no label!'), fc.constantFrom('a', 'b', 'c d'), {
      maxKeys: 2,
    }),
    annotations: fc.dictionary(
      fc.constantFrom(
        'note',
        'kubernetes.io/config.mirror',
        'seccomp.security.alpha.kubernetes.io/pod',
        'container.apparmor.security.beta.kubernetes.io/web',
        'controller.kubernetes.io/pod-deletion-cost',
      ),
      fc.constantFrom('runtime/default', 'unconfined', '10', 'x'),
      { maxKeys: 1 },
    ),
  },
  { requiredKeys: [] },
);

/** Change that makes one pod differ from the others. */
type Twist = (spec: any) => void;
const none: Twist = () => {};
const twists = fc.constantFrom<Twist>(
  none,
  none,
  none,
  (spec) => {
    spec.containers[0].image = ' other ';
  },
  (spec) => {
    spec.containers[0].unknown = true;
  },
  (spec) => {
    spec.activeDeadlineSeconds = -1;
  },
  (spec) => {
    spec.containers[0].resources = { limits: { cpu: '1' } };
  },
  (spec) => {
    spec.hostNetwork = !spec.hostNetwork;
  },
  (spec) => {
    delete spec.containers;
  },
);

async function serverWithAccount(): Promise<TestServer> {
  const server = await testServer(allKinds, {
    admission: admissionPlugins({ enabled: admissionPluginNames }).map(keepingItsPromise),
  });
  await server.create('serviceaccounts', { metadata: { name: 'default' } });
  return server;
}

/** Returns the created object or the error, without the parts that differ in every object. */
async function outcomeOf({ server }: TestServer, body: object): Promise<unknown> {
  const notes = new RequestNotes();
  const user = { name: 'tester', groups: ['system:masters'] };
  const call: Call = {
    verb: 'create',
    apiVersion: 'v1',
    plural: 'pods',
    namespace: 'default',
    user,
    body,
  };
  try {
    const reply = await server.handle(call, notes);
    const text = (reply as ObjectReply).item
      .json()
      .toString()
      .replaceAll(/kube-api-access-\w{5}/g, 'kube-api-access');
    const object = JSON.parse(text);
    delete object.metadata.uid;
    delete object.metadata.resourceVersion;
    return { object, warnings: notes.warnings };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return error.toStatus();
  }
}

it('gives the same outcome whether or not pods of the template came before', { timeout: 60_000 }, async () => {
  const server = await serverWithAccount();
  const interned = vi.spyOn(SpecInterner.prototype, 'intern');
  let count = 0;
  const plain: [object, Twist][] = Array.from({ length: 4 }, () => [{}, none]);
  const pods: fc.Arbitrary<[object, Twist][]> = fc.array(fc.tuple(metadata, twists), { minLength: 4, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(specs, pods, async (spec, list) => {
      for (const [more, twist] of list) {
        const own = structuredClone(spec);
        twist(own);
        const body = { metadata: { name: `pod-${count++}`, ...more }, spec: own };
        const first = await outcomeOf(await serverWithAccount(), structuredClone(body));
        expect(await outcomeOf(server, body)).toEqual(first);
      }
    }),
    { numRuns: RUNS, examples: [[sure, plain]] },
  );
  expect(interned.mock.results.some(({ value }) => value !== undefined)).toBe(true);
});
