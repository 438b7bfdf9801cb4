import { expect, test } from 'vitest';
import { chooseStages } from './choose.ts';
import { readRules } from './read-rules.ts';
import { DEFAULT_STAGES } from './rules.ts';

const pod = (fields: { metadata?: object; spec?: object } = {}) =>
  ({
    metadata: { name: 'a', namespace: 'x', labels: { app: 'web' }, ...fields.metadata },
    spec: { restartPolicy: 'Always', nodeName: 'n1', containers: [{ name: 'c', image: 'nginx' }], ...fields.spec },
    status: {},
  }) as any;
const second = (count: number) => ({ least: count * 1_000, most: count * 1_000 });
const rules = (tree: unknown) => readRules({ pods: tree }).pods;

test('a pod of which nobody speaks goes through the usual stages', () => {
  expect(chooseStages(pod(), [])).toEqual({ stages: DEFAULT_STAGES, faults: [] });
});

test('the pods of jobs end, and a readiness probe takes a moment', () => {
  const ownerReferences = [{ kind: 'Job', controller: true }];
  const job = pod({ metadata: { ownerReferences }, spec: { restartPolicy: 'Never' } });
  expect(chooseStages(job, []).stages.run?.exitCode).toBe(0);
  expect(chooseStages(pod({ metadata: { ownerReferences } }), []).stages.run).toBeUndefined();
  const probed = pod({ spec: { containers: [{ name: 'c', readinessProbe: {} }] } });
  expect(chooseStages(probed, []).stages.ready.least).toBeGreaterThan(0);
});

test('of each stage the first rule that fits and speaks of it wins', () => {
  const { stages } = chooseStages(
    pod(),
    rules([
      { match: { labels: 'app=api' }, stages: { ready: '1s' } },
      { match: { namespaces: 'x' }, stages: { ready: '2s' } },
      { stages: { ready: '3s', stop: '4s' } },
    ]),
  );
  expect(stages.ready).toEqual(second(2));
  expect(stages.stop).toEqual(second(4));
  expect(stages.sandbox).toEqual(DEFAULT_STAGES.sandbox);
});

test('a rule that says forever outweighs the defaults', () => {
  const ownerReferences = [{ kind: 'Job', controller: true }];
  const job = pod({ metadata: { ownerReferences }, spec: { restartPolicy: 'Never' } });
  expect(chooseStages(job, rules([{ stages: { run: 'forever' } }])).stages.run).toBeUndefined();
});

test('annotations outweigh rules, and one that is not understood counts for nothing', () => {
  const annotations = {
    'simulated.kubernetes.io/ready': '7s',
    'simulated.kubernetes.io/run': '{"takes": "1s", "exitCode": 2}',
    'simulated.kubernetes.io/stop': 'soon',
  };
  const { stages, faults } = chooseStages(pod({ metadata: { annotations } }), rules([{ stages: { ready: '2s' } }]));
  expect(stages.ready).toEqual(second(7));
  expect(stages.run).toEqual({ takes: second(1), exitCode: 2 });
  expect(stages.stop).toEqual(DEFAULT_STAGES.stop);
  expect(faults).toEqual([expect.stringContaining('annotation simulated.kubernetes.io/stop: it must be a time')]);
});

test.each([
  [{ names: 'a*' }, true],
  [{ names: ['b', 'c'] }, false],
  [{ nodes: 'n?' }, false],
  [{ nodes: 'n1' }, true],
  [{ images: 'ngin*' }, true],
  [{ images: 'nginx:*' }, false],
  [{ owner: 'Job' }, false],
  [{ restartPolicy: 'Always' }, true],
  [{ readinessProbe: false }, true],
])('%j fits: %s', (match, fits) => {
  const { stages } = chooseStages(pod(), rules([{ match, stages: { ready: '9s' } }]));
  expect(stages.ready.least === 9_000).toBe(fits);
});
