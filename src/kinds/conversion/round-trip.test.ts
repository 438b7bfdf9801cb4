import { describe, expect, test } from 'vitest';
import { received, shown } from '../../../test/support/kinds/test-object.ts';
import { fc, forAll } from '../../../test/support/property-runs.ts';
import { clone } from '../../base/json/tree.ts';
import { decode } from '../../schema/decode/decode.ts';
import { DaemonSet } from '../groups/apps/daemon-set.ts';
import { Deployment } from '../groups/apps/deployment.ts';
import { ReplicaSet } from '../groups/apps/replica-set.ts';
import { StatefulSet } from '../groups/apps/stateful-set.ts';
import { CronJob } from '../groups/batch/cron-job.ts';
import type { Kind, Version } from '../kind.ts';
import { ROLLBACK_ANNOTATION } from './rollback-to.ts';
import { TEMPLATE_GENERATION_ANNOTATION } from './template-generation.ts';

const RESERVED = [ROLLBACK_ANNOTATION, TEMPLATE_GENERATION_ANNOTATION];

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const int32 = fc.nat(2 ** 31 - 2);
const int64 = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const text = fc.string({ maxLength: 6 });
const time = fc.constantFrom('2030-01-01T00:00:00Z', '2017-06-30T12:34:56Z');
const steps = fc.oneof(int32, fc.constantFrom('0%', '25%', '100%', 'lots'));
const labels = fc.dictionary(fc.constantFrom('app', 'tier', 'x.y/z', '__proto__'), text, { maxKeys: 3 });

/** Annotations that keep fields of older versions may hold anything that was ever written there. */
const reserved = fc.oneof(
  int64.map(String),
  fc.constantFrom('0', '-1', '007', '+1', '1.0', '', 'soon', '9223372036854775807'),
);
const annotations = (hub: boolean) =>
  fc
    .record({ own: labels, kept: fc.dictionary(fc.constantFrom(...RESERVED), reserved, { maxKeys: 2 }) })
    .map(({ own, kept }) => (hub ? { ...own, ...kept } : own));

const selector = maybe(fc.record({ matchLabels: labels }));
const template = fc.record({
  metadata: fc.record({ labels: maybe(labels) }),
  spec: fc.record({ containers: fc.array(fc.record({ name: text, image: text }), { maxLength: 2 }) }),
});
const condition = fc.record({ type: text, status: text, lastTransitionTime: maybe(time), message: maybe(text) });
const counters = (...names: string[]) => fc.record(Object.fromEntries(names.map((name) => [name, maybe(int32)])));

const bodies: Record<string, { spec: fc.Arbitrary<any>; status: fc.Arbitrary<any> }> = {
  Deployment: {
    spec: fc.record({
      replicas: maybe(int32),
      selector,
      template,
      strategy: maybe(
        fc.record({
          type: maybe(fc.constantFrom('Recreate', 'RollingUpdate', 'Magic')),
          rollingUpdate: maybe(fc.record({ maxSurge: maybe(steps), maxUnavailable: maybe(steps) })),
        }),
      ),
      minReadySeconds: maybe(int32),
      revisionHistoryLimit: maybe(int32),
      paused: maybe(fc.boolean()),
      progressDeadlineSeconds: maybe(int32),
      rollbackTo: maybe(fc.record({ revision: maybe(int64) })),
    }),
    status: fc.record({
      counts: counters('replicas', 'readyReplicas', 'collisionCount', 'terminatingReplicas'),
      conditions: fc.array(condition, { maxLength: 2 }),
    }),
  },
  ReplicaSet: {
    spec: fc.record({ replicas: maybe(int32), selector, template, minReadySeconds: maybe(int32) }),
    status: counters('replicas', 'fullyLabeledReplicas', 'observedGeneration'),
  },
  DaemonSet: {
    spec: fc.record({
      selector,
      template,
      updateStrategy: maybe(
        fc.record({
          type: maybe(fc.constantFrom('RollingUpdate', 'OnDelete')),
          rollingUpdate: maybe(fc.record({ maxSurge: maybe(steps), maxUnavailable: maybe(steps) })),
        }),
      ),
      revisionHistoryLimit: maybe(int32),
      templateGeneration: maybe(int64),
    }),
    status: counters('desiredNumberScheduled', 'numberReady', 'collisionCount'),
  },
  StatefulSet: {
    spec: fc.record({
      replicas: maybe(int32),
      selector,
      template,
      serviceName: maybe(text),
      podManagementPolicy: maybe(text),
      updateStrategy: maybe(
        fc.record({
          type: maybe(fc.constantFrom('RollingUpdate', 'OnDelete', 'Magic')),
          rollingUpdate: maybe(fc.record({ partition: maybe(int32), maxUnavailable: maybe(steps) })),
        }),
      ),
      volumeClaimTemplates: fc.array(fc.record({ metadata: fc.record({ name: text }) }), { maxLength: 2 }),
      revisionHistoryLimit: maybe(int32),
      ordinals: maybe(fc.record({ start: maybe(int32) })),
    }),
    status: counters('replicas', 'readyReplicas', 'collisionCount'),
  },
  CronJob: {
    spec: fc.record({
      schedule: text,
      timeZone: maybe(text),
      suspend: maybe(fc.boolean()),
      concurrencyPolicy: maybe(fc.constantFrom('Allow', 'Forbid')),
      jobTemplate: fc.record({ spec: fc.record({ template, completions: maybe(int32) }) }),
      successfulJobsHistoryLimit: maybe(int32),
      failedJobsHistoryLimit: maybe(int32),
    }),
    status: fc.record({ lastScheduleTime: maybe(time) }),
  },
};

/** Generates decoded objects of one version, as the server has them. */
function objects(kind: Kind, version: Version): fc.Arbitrary<any> {
  const { spec, status } = bodies[kind.kind]!;
  return fc
    .record({
      metadata: fc.record({ name: text, labels: maybe(labels), annotations: annotations(version === kind.hub) }),
      spec,
      status,
    })
    .map((body) => decode(version.schema, { kind: kind.kind, apiVersion: version.apiVersion, ...body }));
}

const pairs = [Deployment, ReplicaSet, DaemonSet, StatefulSet, CronJob].flatMap((kind: Kind) =>
  kind.versions.slice(1).map((version) => [kind.kind, version.apiVersion, kind, version] as const),
);

describe.each(pairs)('%s of %s', (_name, apiVersion, kind, version) => {
  const toHub = (object: any) => {
    const copy = { ...clone(object), apiVersion: kind.hub.apiVersion };
    return version.toHub ? version.toHub(copy) : copy;
  };

  test('is the same after it was stored', () => {
    forAll({ numRuns: 300 }, objects(kind, version), (object) => {
      expect(shown(kind, toHub(object), apiVersion)).toEqual(object);
    });
  });

  test('shows a stored object so that nothing of it is lost', () => {
    forAll({ numRuns: 300 }, objects(kind, kind.hub), (object) => {
      expect(toHub(shown(kind, object, apiVersion))).toEqual(object);
    });
  });

  test('gives a client that sends back what it got the same object again', () => {
    forAll({ numRuns: 100 }, objects(kind, kind.hub), (object) => {
      const sent = JSON.parse(JSON.stringify(shown(kind, object, apiVersion)));
      const again = received(kind, sent, apiVersion);
      expect(decode(kind.hub.schema, again)).toEqual(decode(kind.hub.schema, withDefaults(object, again)));
    });
  });

  test('changes nothing in the object it converts', () => {
    forAll({ numRuns: 50 }, objects(kind, kind.hub), (object) => {
      const before = clone(object);
      version.fromHub?.(object);
      version.toHub?.(shown(kind, object, apiVersion));
      expect(object).toEqual(before);
    });
  });
});

/** A selector that the older version would fill in is no loss. */
function withDefaults(object: any, again: any): any {
  if (object.spec.selector || !again.spec.selector) return object;
  return { ...object, spec: { ...object.spec, selector: again.spec.selector } };
}
