/**
 * A whole cluster on simulated nodes, through the real API and the built program: how long nodes take to register, and
 * Deployments to have all their pods scheduled and ready.
 */
import type { Agent } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { get, mergePatch, post } from './http.ts';
import type { Target } from './load.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
/** Milliseconds between two looks. */
const LOOK = 50;

/** Measures milliseconds until the Deployments and their pods are ready, from the first request on. */
export async function measureRollout(
  target: Target,
  { deployments, replicas }: { deployments: number; replicas: number },
  agent: Agent,
): Promise<number> {
  const began = performance.now();
  const bodies = Array.from({ length: deployments }, (_, index) =>
    JSON.stringify(deployment(`web-${index}`, replicas)),
  );
  await Promise.all(bodies.map((body) => post(target, DEPLOYMENTS, body, agent)));
  for (;;) {
    const list = JSON.parse((await get(target, DEPLOYMENTS, agent)).toString());
    const ready = list.items.reduce((sum: number, { status }: any) => sum + (status.readyReplicas ?? 0), 0);
    if (ready === deployments * replicas) return performance.now() - began;
    await pause(LOOK);
  }
}

/** Milliseconds until all pods of a Deployment are new ones, ready and alone, from the request for another image on. */
export async function measureRollingUpdate(target: Target, replicas: number, agent: Agent): Promise<number> {
  const path = `${DEPLOYMENTS}/rolling`;
  const settled = async () => {
    for (;;) {
      const { metadata, status } = JSON.parse((await get(target, path, agent)).toString());
      const counts = [status.replicas, status.updatedReplicas, status.availableReplicas];
      if (status.observedGeneration === metadata.generation && counts.every((count) => count === replicas)) return;
      await pause(LOOK);
    }
  };
  await post(target, DEPLOYMENTS, JSON.stringify(deployment('rolling', replicas)), agent);
  await settled();
  const began = performance.now();
  const containers = [{ name: 'web', image: 'nginx:1.28' }];
  await mergePatch(target, path, JSON.stringify({ spec: { template: { spec: { containers } } } }), agent);
  await settled();
  return performance.now() - began;
}

function deployment(name: string, replicas: number) {
  const labels = { app: name };
  const resources = { requests: { cpu: '10m', memory: '16Mi' } };
  return {
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1.27', resources }] } },
    },
  };
}
