import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readRules } from './read-rules.ts';

const FILE = `
pods:
  - match:
      namespaces: shop
      labels: app in (web, api)
      owner: Job
      restartPolicy: [Never, OnFailure]
      images: ['*:broken']
    stages:
      sandbox: 1s..2s
      pull: { takes: 3s, fails: not found }
      init: 5s exit 1
      ready: 10s
      run: { takes: 1m, exitCode: 137, reason: OOMKilled, times: 3, containers: app }
      liveness: { after: 20s, times: 2, containers: app }
      readiness: { after: 1s, for: 5s..6s }
      stop: 2s
      logs: { every: 1s, lines: ['{n} of {pod}'] }
      usage: { cpu: 20%..80%, memory: 64Mi, containers: app, shared: true }
  - stages: { run: forever, liveness: passes, readiness: 3s }
nodes:
  - names: '*-1'
    labels: { zone: a }
    capacity: { cpu: 4 }
    taints: [{ key: gpu, effect: NoSchedule }]
    down: { after: 10s, for: 20s..30s }
`;

test('every field of a file is read', () => {
  const { pods, nodes } = readRules(parse(FILE));
  expect(pods[0]?.match).toMatchObject({ namespaces: ['shop'], owner: 'Job', images: ['*:broken'] });
  expect(pods[0]?.match.labels?.matches({ app: 'api' })).toBe(true);
  expect(pods[0]?.stages).toEqual({
    sandbox: { min: 1_000, max: 2_000 },
    pull: { takes: { min: 3_000, max: 3_000 }, fails: 'not found' },
    init: { takes: { min: 5_000, max: 5_000 }, exitCode: 1 },
    ready: { min: 10_000, max: 10_000 },
    run: { takes: { min: 60_000, max: 60_000 }, exitCode: 137, reason: 'OOMKilled', times: 3, containers: ['app'] },
    liveness: { after: { min: 20_000, max: 20_000 }, times: 2, containers: ['app'] },
    readiness: { after: { min: 1_000, max: 1_000 }, for: { min: 5_000, max: 6_000 } },
    stop: { min: 2_000, max: 2_000 },
    logs: { every: 1_000, lines: ['{n} of {pod}'] },
    usage: {
      cpu: { isPercent: true, min: 20, max: 80 },
      memory: { isPercent: false, min: 64 * 1024 * 1024, max: 64 * 1024 * 1024 },
      containers: ['app'],
      shared: true,
    },
  });
  const readiness = { after: { min: 3_000, max: 3_000 } };
  expect(pods[1]).toEqual({ match: {}, stages: { run: undefined, liveness: undefined, readiness } });
  expect(nodes).toEqual([
    {
      names: ['*-1'],
      labels: { zone: 'a' },
      capacity: { cpu: '4' },
      taints: [{ key: 'gpu', effect: 'NoSchedule' }],
      down: { after: { min: 10_000, max: 10_000 }, for: { min: 20_000, max: 30_000 } },
    },
  ]);
});

test('an empty file has no rules', () => {
  expect(readRules(parse('# nothing'))).toEqual({ pods: [], nodes: [] });
});

test.each([
  ['pods: 3', 'pods: must be a list'],
  ['[]', 'the file: must be a map'],
  ['podz: []', 'podz: unknown field'],
  ['pods: [{match: {label: a}}]', 'pods[0].match.label: unknown field'],
  ['pods: [{match: {labels: "a in"}}]', 'pods[0].match.labels: '],
  ['pods: [{stages: {ready: soon}}]', 'pods[0].stages.ready: must be a duration such as 2s'],
  ['pods: [{stages: {run: 3s exit 300}}]', 'pods[0].stages.run: must be a duration, optionally with'],
  ['pods: [{stages: {run: {exitCode: 1}}}]', 'pods[0].stages.run.takes: is required'],
  ['pods: [{stages: {logs: {every: 0}}}]', 'pods[0].stages.logs.every: must be at least 1ms'],
  ['pods: [{stages: {usage: {cpu: much}}}]', 'pods[0].stages.usage.cpu: must be an amount such as 250m or 40%'],
  ['pods: [{stages: {usage: 90%}}]', 'pods[0].stages.usage: must be a map, or amounts such as cpu=90%,memory=1Gi'],
  ['pods: [{stages: {usage: disk=1}}]', 'pods[0].stages.usage.disk: unknown field'],
  ['nodes: [{down: {for: 3s}}]', 'nodes[0].down.after: is required'],
])('%s is rejected', (text, message) => {
  expect(() => readRules(parse(text))).toThrow(message);
});
