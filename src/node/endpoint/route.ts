/** Routes of the endpoint, parsed from paths. */
import type { ContainerName, PodName } from './pod-streams.ts';

export type DocumentName =
  | 'health'
  | 'pods'
  | 'runningPods'
  | 'summary'
  | 'metrics'
  | 'resourceMetrics'
  | 'containerMetrics'
  | 'probeMetrics'
  | 'healthMetrics'
  | 'config';

export type EndpointRoute =
  | { readonly type: 'document'; readonly name: DocumentName }
  /** Files of the machine's log directory: path below it. */
  | { readonly type: 'logFile'; readonly path: string }
  | { readonly type: 'containerLogs'; readonly target: ContainerName }
  | { readonly type: 'exec' | 'attach' | 'run'; readonly target: ContainerName }
  | { readonly type: 'portForward'; readonly target: PodName };

const DOCUMENTS: Readonly<Record<string, DocumentName>> = {
  '/healthz': 'health',
  '/healthz/ping': 'health',
  '/healthz/log': 'health',
  '/healthz/syncloop': 'health',
  '/pods': 'pods',
  '/runningpods': 'runningPods',
  '/stats/summary': 'summary',
  '/metrics': 'metrics',
  '/metrics/resource': 'resourceMetrics',
  '/metrics/cadvisor': 'containerMetrics',
  '/metrics/probes': 'probeMetrics',
  '/metrics/slis': 'healthMetrics',
  '/configz': 'config',
};

/** `path` has no query. Returns undefined when there is no such path. */
export function routeOf(path: string): EndpointRoute | undefined {
  const document = DOCUMENTS[path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path];
  if (document) return { type: 'document', name: document };
  let parts: string[];
  try {
    parts = path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
  const [root = '', ...rest] = parts;
  if (root === 'logs') return { type: 'logFile', path: rest.join('/') };
  if (rest.some((part) => part === '')) return undefined;
  const [namespace = '', pod = '', third, fourth] = rest;
  switch (root) {
    case 'containerLogs':
      return rest.length === 3 ? { type: root, target: { namespace, pod, container: third! } } : undefined;
    case 'exec':
    case 'attach':
    case 'run':
      if (rest.length === 3) return { type: root, target: { namespace, pod, container: third! } };
      return rest.length === 4 ? { type: root, target: { namespace, pod, uid: third, container: fourth! } } : undefined;
    case 'portForward':
      if (rest.length === 2) return { type: root, target: { namespace, pod } };
      return rest.length === 3 ? { type: root, target: { namespace, pod, uid: third } } : undefined;
    default:
      return undefined;
  }
}
