/** The objects that the bench writes: pods as deployments make them, about 3.8 KB as served and 1.5 KB as sent. */

/** A pod that fills about 3.8 KB when the server gives it back. Every tenth carries `group: "0"`, and so on. */
export function largePod(index: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `pod-${index}`,
      labels: { app: 'shop', tier: 'backend', group: String(index % 10), 'pod-template-hash': '7d4b9c6f5' },
      annotations: {
        'example.com/checksum': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        'example.com/owner': 'team-storefront',
        'example.com/description':
          'Serves the shop and takes its orders. Runs in every region; see the runbook for how to ' +
          'drain one. Restarts are safe at any time: sessions are kept elsewhere.',
      },
    },
    spec: {
      serviceAccountName: 'default',
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'shop', effect: 'NoSchedule' }],
      volumes: [
        { name: 'config', configMap: { name: 'shop-config' } },
        { name: 'cache', emptyDir: { sizeLimit: '64Mi' } },
        { name: 'tls', secret: { secretName: 'shop-tls' } },
      ],
      containers: [container('web', 8080), container('metrics', 9090)],
    },
  };
}

const DATABASE = 'postgres://shop-db.shop.svc:5432/shop';

/** Pod of about 1.5 KB as JSON. */
export function smallPod(name: string, database = DATABASE): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'shop', tier: 'backend', 'pod-template-hash': '7d4b9c6f5' } },
    spec: {
      volumes: [{ name: 'config', configMap: { name: 'shop-config' } }],
      containers: [container('web', 8080, database), container('worker', 8081, database)],
    },
  };
}

function container(name: string, port: number, database = DATABASE): object {
  return {
    name,
    image: `registry.example.com/shop/${name}:1.24.3`,
    args: ['--config=/etc/shop/config.yaml', `--listen=0.0.0.0:${port}`],
    ports: [{ name, containerPort: port, protocol: 'TCP' }],
    env: [
      { name: 'LOG_LEVEL', value: 'info' },
      { name: 'DATABASE', value: database },
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '500m', memory: '256Mi' } },
    readinessProbe: { httpGet: { path: '/ready', port: name }, periodSeconds: 5 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/shop' }],
  };
}
