import { expect, test } from 'vitest';
import { chooseStages } from './choose-stages.ts';
import { readRules } from './read-rules.ts';
import { DEFAULT_STAGES } from './rules.ts';

const pod = (fields: { metadata?: object; spec?: object } = {}) =>
  ({
    metadata: { name: 'a', namespace: 'x', labels: { app: 'web' }, ...fields.metadata },
    spec: { restartPolicy: 'Always', nodeName: 'n1', containers: [{ name: 'c', image: 'nginx' }], ...fields.spec },
    status: {},
  }) as any;
const second = (count: number) => ({ min: count * 1_000, max: count * 1_000 });
const rules = (tree: unknown) => readRules({ pods: tree }).pods;

test('a pod that no rule matches has the default stages', () => {
  expect(chooseStages(pod(), [])).toEqual({ stages: DEFAULT_STAGES, errors: [] });
});

test('the pods of jobs end, and a readiness probe takes a moment', () => {
  const ownerReferences = [{ kind: 'Job', controller: true }];
  const job = pod({ metadata: { ownerReferences }, spec: { restartPolicy: 'Never' } });
  expect(chooseStages(job, []).stages.run?.exitCode).toBe(0);
  expect(chooseStages(pod({ metadata: { ownerReferences } }), []).stages.run).toBeUndefined();
  const probed = pod({ spec: { containers: [{ name: 'c', readinessProbe: {} }] } });
  expect(chooseStages(probed, []).stages.ready.min).toBeGreaterThan(0);
});

test('for each stage, the first matching rule that sets it wins', () => {
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

test('a rule with "forever" overrides the defaults', () => {
  const ownerReferences = [{ kind: 'Job', controller: true }];
  const job = pod({ metadata: { ownerReferences }, spec: { restartPolicy: 'Never' } });
  expect(chooseStages(job, rules([{ stages: { run: 'forever' } }])).stages.run).toBeUndefined();
});

test('annotations override rules, and an invalid one is ignored', () => {
  const annotations = {
    'simulated.kubernetes.io/ready': '7s',
    'simulated.kubernetes.io/run': '{"takes": "1s", "exitCode": 2}',
    'simulated.kubernetes.io/stop': 'soon',
  };
  const { stages, errors } = chooseStages(pod({ metadata: { annotations } }), rules([{ stages: { ready: '2s' } }]));
  expect(stages.ready).toEqual(second(7));
  expect(stages.run).toEqual({ takes: second(1), exitCode: 2 });
  expect(stages.stop).toEqual(DEFAULT_STAGES.stop);
  expect(errors).toEqual([expect.stringContaining('annotation simulated.kubernetes.io/stop: must be a duration')]);
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
])('%j matches: %s', (match, matches) => {
  const { stages } = chooseStages(pod(), rules([{ match, stages: { ready: '9s' } }]));
  expect(stages.ready.min === 9_000).toBe(matches);
});
