import { describe } from 'vitest';
import type { Random } from '../../src/base/random.ts';
import { podStatus } from '../../src/node/pod/pod-status.ts';
import { advancePod, nextDue } from '../../src/node/simulated/lifecycle/advance-pod.ts';
import { newPodLife, type PodLife } from '../../src/node/simulated/lifecycle/pod-life.ts';
import { usageOf } from '../../src/node/simulated/lifecycle/usage.ts';
import { DEFAULT_STAGES, type Stages } from '../../src/node/simulated/rules/rules.ts';
import { growsLinearly } from './growth.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const random: Random = { int: () => 0, uuid: () => '', bytes: (length) => Buffer.alloc(length) };
const listOf = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index));
const container = (at: number) => ({ name: `c${at}`, image: 'i', livenessProbe: {}, readinessProbe: {} });

function podOf(spec: object, status: object = { phase: 'Pending' }): any {
  const metadata = { name: 'a', namespace: 'x', uid: '01234567-89ab-cdef-0123-456789abcdef', generation: 1 };
  return { metadata, spec: { restartPolicy: 'Always', ...spec }, status };
}

const start = (pod: any, stages: Stages = DEFAULT_STAGES) => newPodLife({ pod, stages, now: NOW, sandboxTakes: 0 });

function advance(life: PodLife, now = NOW): void {
  advancePod(life, { now, random, takeAddress: () => '10.0.0.2', emit: () => {} });
  nextDue(life);
}

function report({ pod, phase, runs, hasSandbox, startTime, address }: PodLife) {
  return podStatus({ pod, phase, runs, hasSandbox, now: NOW, startTime, hostIP: 'h', podIP: address }, []);
}

describe('a simulated pod', () => {
  growsLinearly({
    'with many containers starts': [
      1000,
      (items) => {
        const pod = podOf({ containers: listOf(items, container) });
        return () => {
          const life = start(pod);
          advance(life);
          return report(life);
        };
      },
    ],
    'with many init containers starts the first': [
      1000,
      (items) => {
        const life = start(podOf({ initContainers: listOf(items, container), containers: [container(0)] }));
        return () => {
          advance(life);
          return report(life);
        };
      },
    ],
    'with many init containers that are all done starts': [
      1000,
      (items) => {
        const stages = { ...DEFAULT_STAGES, init: { takes: { min: 0, max: 0 }, exitCode: 0 } };
        const life = start(podOf({ initContainers: listOf(items, container), containers: [container(0)] }), stages);
        return () => {
          advance(life);
          return report(life);
        };
      },
    ],
    'with many init containers is deleted while the first runs': [
      4000,
      (items) => {
        const pod = podOf({ initContainers: listOf(items, container), containers: [container(0)] });
        const stages = { ...DEFAULT_STAGES, init: { takes: { min: 60_000, max: 60_000 }, exitCode: 0 } };
        const life = start(pod, stages);
        advance(life);
        const deletion = { deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 };
        life.pod = { ...pod, metadata: { ...pod.metadata, ...deletion } };
        return () => {
          advance(life, NOW + 2000);
          return report(life);
        };
      },
    ],
    'with many containers continues after a restart of the program': [
      1000,
      (items) => {
        const pod = podOf({ containers: listOf(items, container) });
        const before = start(pod);
        advance(before);
        const annotations = {
          'kubernetes.io/restart-counts': JSON.stringify(Object.fromEntries(listOf(items, (at) => [`c${at}`, 9]))),
        };
        const stored = { ...pod, metadata: { ...pod.metadata, annotations }, status: report(before) };
        return () => advance(start(stored));
      },
    ],
    'with many containers that crash is restarted': [
      1000,
      (items) => {
        const run = { takes: { min: 1000, max: 1000 }, exitCode: 1, containers: listOf(items, (at) => `c${at}`) };
        const life = start(podOf({ containers: listOf(items, container) }), { ...DEFAULT_STAGES, run });
        advance(life);
        return () => {
          advance(life, NOW + 1000);
          advance(life, NOW + 2000);
          return report(life);
        };
      },
    ],
    'with many containers is used and measured': [
      1000,
      (items) => {
        const usage = { ...DEFAULT_STAGES.usage, containers: listOf(items, (at) => `c${at}`) };
        const life = start(podOf({ containers: listOf(items, container) }), { ...DEFAULT_STAGES, usage });
        advance(life);
        return () => usageOf([life], { now: NOW, podsSharing: () => 1 });
      },
    ],
    'gets many ephemeral containers': [
      1000,
      (items) => {
        const life = start(podOf({ containers: [container(0)] }));
        advance(life);
        life.pod = podOf({ containers: [container(0)], ephemeralContainers: listOf(items, container) });
        return () => {
          advance(life);
          return report(life);
        };
      },
    ],
    'has many readiness gates and conditions': [
      1000,
      (items) => {
        const readinessGates = listOf(items, (at) => ({ conditionType: `t${at}` }));
        const conditions = listOf(items, (at) => ({ type: `t${at}`, status: 'True' }));
        const life = start(podOf({ containers: [container(0)], readinessGates }, { phase: 'Pending', conditions }));
        advance(life);
        return () => report(life);
      },
    ],
  });
});
