/** What a Website consists of. Nothing here calls the API, so that it can be tested without one. */

/** The objects that a website needs. They belong to it, and are deleted with it. */
export function childrenOf({ apiVersion, kind, metadata, spec }) {
  const { name, namespace, uid } = metadata;
  const ownerReferences = [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }];
  const labels = { 'example.com/website': name };
  const own = { name, namespace, labels, ownerReferences };
  const volumes = [{ name: 'html', configMap: { name } }];
  const volumeMounts = [{ name: 'html', mountPath: '/usr/share/nginx/html' }];
  const containers = [{ name: 'web', image: 'nginx:1.27', ports: [{ containerPort: 80 }], volumeMounts }];
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: own, data: { 'index.html': spec.html } },
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: own,
      spec: {
        replicas: spec.replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers, volumes } },
      },
    },
    { apiVersion: 'v1', kind: 'Service', metadata: own, spec: { selector: labels, ports: [{ port: 80 }] } },
  ];
}

/** The status of a website, from that of its Deployment. */
export function statusOf({ metadata, spec }, deployment) {
  const { readyReplicas = 0, observedGeneration } = deployment.status ?? {};
  const isCurrent = observedGeneration === deployment.metadata.generation;
  const isReady = isCurrent && readyReplicas === spec.replicas;
  return { observedGeneration: metadata.generation, readyReplicas, phase: isReady ? 'Ready' : 'Pending' };
}
