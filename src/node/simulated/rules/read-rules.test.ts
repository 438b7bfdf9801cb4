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

test('a file is read as it stands', () => {
  const { pods, nodes } = readRules(parse(FILE));
  expect(pods[0]?.match).toMatchObject({ namespaces: ['shop'], owner: 'Job', images: ['*:broken'] });
  expect(pods[0]?.match.labels?.matches({ app: 'api' })).toBe(true);
  expect(pods[0]?.stages).toEqual({
    sandbox: { least: 1_000, most: 2_000 },
    pull: { takes: { least: 3_000, most: 3_000 }, fails: 'not found' },
    init: { takes: { least: 5_000, most: 5_000 }, exitCode: 1 },
    ready: { least: 10_000, most: 10_000 },
    run: { takes: { least: 60_000, most: 60_000 }, exitCode: 137, reason: 'OOMKilled', times: 3, containers: ['app'] },
    liveness: { after: { least: 20_000, most: 20_000 }, times: 2, containers: ['app'] },
    readiness: { after: { least: 1_000, most: 1_000 }, for: { least: 5_000, most: 6_000 } },
    stop: { least: 2_000, most: 2_000 },
    logs: { every: 1_000, lines: ['{n} of {pod}'] },
    usage: {
      cpu: { isShare: true, least: 20, most: 80 },
      memory: { isShare: false, least: 64 * 1024 * 1024, most: 64 * 1024 * 1024 },
      containers: ['app'],
      shared: true,
    },
  });
  const readiness = { after: { least: 3_000, most: 3_000 } };
  expect(pods[1]).toEqual({ match: {}, stages: { run: undefined, liveness: undefined, readiness } });
  expect(nodes).toEqual([
    {
      names: ['*-1'],
      labels: { zone: 'a' },
      capacity: { cpu: '4' },
      taints: [{ key: 'gpu', effect: 'NoSchedule' }],
      down: { after: { least: 10_000, most: 10_000 }, for: { least: 20_000, most: 30_000 } },
    },
  ]);
});

test('an empty file says nothing', () => {
  expect(readRules(parse('# nothing'))).toEqual({ pods: [], nodes: [] });
});

test.each([
  ['pods: 3', 'pods: it must be a list'],
  ['[]', 'the file: it must be a map'],
  ['podz: []', 'podz: there is no such field'],
  ['pods: [{match: {label: a}}]', 'pods[0].match.label: there is no such field'],
  ['pods: [{match: {labels: "a in"}}]', 'pods[0].match.labels: '],
  ['pods: [{stages: {ready: soon}}]', 'pods[0].stages.ready: it must be a time such as 2s'],
  ['pods: [{stages: {run: 3s exit 300}}]', 'pods[0].stages.run: it must be a span of time'],
  ['pods: [{stages: {run: {exitCode: 1}}}]', 'pods[0].stages.run.takes: it must be given'],
  ['pods: [{stages: {logs: {every: 0}}}]', 'pods[0].stages.logs.every: it must be longer than no time'],
  ['pods: [{stages: {usage: {cpu: much}}}]', 'pods[0].stages.usage.cpu: it must be an amount such as 250m or 40%'],
  ['pods: [{stages: {usage: 90%}}]', 'pods[0].stages.usage: it must be a map, or amounts such as cpu=90%,memory=1Gi'],
  ['pods: [{stages: {usage: disk=1}}]', 'pods[0].stages.usage.disk: there is no such field'],
  ['nodes: [{down: {for: 3s}}]', 'nodes[0].down.after: it must be given'],
])('%s is refused', (text, message) => {
  expect(() => readRules(parse(text))).toThrow(message);
});
