/** Responses that are built whole. */
import { ApiError } from '../../../api/errors.ts';
import type { EndpointNode } from '../endpoint-node.ts';
import type { DocumentName } from '../route.ts';
import { agentMetrics, containerMetrics, healthMetrics, probeMetrics } from './metrics.ts';

export interface Document {
  readonly contentType: string;
  readonly body: string;
}

export interface DocumentOptions {
  readonly node: EndpointNode;
  /** For `/configz`: the settings of the agent, with the names of KubeletConfiguration. */
  readonly config: object;
  /** How often `/healthz` was asked for. It is counted here. */
  readonly health: { asked: number };
}

/** Rejects with an ApiError when the node has not come up yet. */
export async function documentOf(name: DocumentName, { node, config, health }: DocumentOptions): Promise<Document> {
  switch (name) {
    case 'health':
      health.asked++;
      return { contentType: 'text/plain; charset=utf-8', body: 'ok' };
    case 'pods':
      return json(podList([...node.pods()].map(({ pod }) => pod)));
    case 'runningPods':
      return json(podList(await runningPods(node)));
    case 'summary':
      return json((await node.summary()) ?? starting(node));
    case 'metrics':
      return metrics(await agentMetrics(node));
    case 'resourceMetrics':
      return metrics((await node.resourceMetrics()) ?? starting(node));
    case 'containerMetrics':
      return metrics(await containerMetrics(node));
    case 'probeMetrics':
      return metrics(probeMetrics(node));
    case 'healthMetrics':
      return metrics(healthMetrics(health.asked));
    case 'config':
      return json({ kubeletconfig: config });
  }
}

function json(value: object): Document {
  return { contentType: 'application/json', body: JSON.stringify(value) };
}

function metrics(body: string): Document {
  return { contentType: 'text/plain; version=0.0.4; charset=utf-8', body };
}

function starting({ name }: EndpointNode): never {
  throw new ApiError('ServiceUnavailable', `the runtime of node "${name}" is starting`);
}

function podList(pods: readonly object[]): object {
  return {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: {},
    items: pods.map((pod) => ({ ...pod, kind: undefined, apiVersion: undefined })),
  };
}

/** Lists running pods, as the runtime says: names, and the containers that run. */
async function runningPods({ runtime }: EndpointNode): Promise<readonly object[]> {
  if (!runtime) return [];
  const [sandboxes, containers] = await Promise.all([runtime.sandboxes(), runtime.containers()]);
  return sandboxes
    .map(({ id, pod, createdAt }) => ({
      metadata: { ...pod, creationTimestamp: new Date(createdAt).toISOString() },
      spec: {
        containers: containers
          .filter(({ sandboxId, state }) => sandboxId === id && state === 'running')
          .map(({ name, image }) => ({ name, image, resources: {} })),
      },
      status: {},
    }))
    .filter(({ spec }) => spec.containers.length > 0);
}
