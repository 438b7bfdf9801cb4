/** Rows of nodes, and of objects of the network. */
import { expectRows, selector } from './row.ts';

expectRows([
  [
    'Service',
    [
      [
        'inside the cluster',
        {
          spec: {
            type: 'ClusterIP',
            clusterIPs: ['10.96.0.1', 'fd00::1'],
            ports: [
              { port: 80, protocol: 'TCP' },
              { port: 53, protocol: 'UDP' },
            ],
            selector: { app: 'web' },
          },
        },
        'Name=x Type=ClusterIP Cluster-IP=10.96.0.1 External-IP=<none> Port(s)=80/TCP,53/UDP Age=5m |Selector=app=web',
      ],
      [
        'without an address',
        { spec: { type: 'ClusterIP', clusterIPs: ['None'] } },
        'Name=x Type=ClusterIP Cluster-IP=None External-IP=<none> Port(s)=<none> Age=5m |Selector=<none>',
      ],
      [
        'on every node',
        {
          spec: {
            type: 'NodePort',
            clusterIPs: ['10.96.0.2'],
            externalIPs: ['192.0.2.1', '192.0.2.2'],
            ports: [{ port: 80, nodePort: 30080, protocol: 'TCP' }],
          },
        },
        'Name=x Type=NodePort Cluster-IP=10.96.0.2 External-IP=192.0.2.1,192.0.2.2 Port(s)=80:30080/TCP Age=5m |Selector=<none>',
      ],
      [
        'that waits for its balancer',
        { spec: { type: 'LoadBalancer', clusterIPs: ['10.96.0.3'] } },
        'Name=x Type=LoadBalancer Cluster-IP=10.96.0.3 External-IP=<pending> Port(s)=<none> Age=5m |Selector=<none>',
      ],
      [
        'that has its balancer',
        {
          spec: { type: 'LoadBalancer', clusterIPs: ['10.96.0.3'], externalIPs: ['192.0.2.9'] },
          status: { loadBalancer: { ingress: [{ hostname: 'lb.example.com' }, { ip: '198.51.100.1' }] } },
        },
        'Name=x Type=LoadBalancer Cluster-IP=10.96.0.3 External-IP=198.51.100.1,lb.example.com,192.0.2.9 Port(s)=<none> Age=5m |Selector=<none>',
      ],
      [
        'elsewhere',
        { spec: { type: 'ExternalName', externalName: 'db.example.com' } },
        'Name=x Type=ExternalName Cluster-IP=<none> External-IP=db.example.com Port(s)=<none> Age=5m |Selector=<none>',
      ],
    ],
  ],
  [
    'Node',
    [
      [
        'that is ready',
        {
          metadata: { labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'edge' } },
          spec: { unschedulable: true },
          status: {
            conditions: [{ type: 'Ready', status: 'True' }],
            addresses: [{ type: 'InternalIP', address: '192.0.2.5' }],
            nodeInfo: {
              kubeletVersion: 'v1.36.4',
              osImage: 'Debian',
              kernelVersion: '6.1',
              architecture: 'arm64',
              containerRuntimeVersion: 'containerd://2',
            },
          },
        },
        'Name=x Status=Ready,SchedulingDisabled Roles=edge,worker Age=5m Version=v1.36.4 |Internal-IP=192.0.2.5 |External-IP=<none> |OS-Image=Debian |Kernel-Version=6.1 (arm64) |Container-Runtime=containerd://2',
      ],
      [
        'of which nothing is known',
        {},
        'Name=x Status=Unknown Roles=<none> Age=5m Version= |Internal-IP=<none> |External-IP=<none> |OS-Image=<unknown> |Kernel-Version=<unknown> |Container-Runtime=<unknown>',
      ],
    ],
  ],
  [
    'Endpoints',
    [
      [
        'of many',
        {
          subsets: [
            { addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }, { port: 81 }] },
            { addresses: [{ ip: '10.0.0.3' }] },
          ],
        },
        'Name=x Endpoints=10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 2 more... Age=5m',
      ],
      ['of none', {}, 'Name=x Endpoints=<none> Age=5m'],
    ],
  ],
  [
    'Ingress',
    [
      [
        'of many hosts',
        {
          spec: { ingressClassName: 'nginx', tls: [{}], rules: ['a', 'b', 'c', 'd'].map((host) => ({ host })) },
          status: { loadBalancer: { ingress: [{ ip: '192.0.2.2' }, { ip: '192.0.2.1' }, { ip: '192.0.2.2' }] } },
        },
        'Name=x Class=nginx Hosts=a,b,c + 1 more... Address=192.0.2.1,192.0.2.2 Ports=80, 443 Age=5m',
      ],
      ['of all hosts', { spec: { rules: [{}] } }, 'Name=x Class=<none> Hosts=* Address= Ports=80 Age=5m'],
    ],
  ],
  [
    'IngressClass',
    [
      [
        'that is the default',
        {
          metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
          spec: { controller: 'example.com/c', parameters: { apiGroup: 'example.com', kind: 'Params', name: 'p' } },
        },
        'Name=x (default) Controller=example.com/c Parameters=Params.example.com/p Age=5m',
      ],
    ],
  ],
  [
    'NetworkPolicy',
    [
      ['for some', { spec: { podSelector: selector } }, 'Name=x Pod-Selector=app=web,tier in (a,b) Age=5m'],
      ['for all', { spec: { podSelector: {} } }, 'Name=x Pod-Selector=<none> Age=5m'],
    ],
  ],
  [
    'ServiceCIDR',
    [
      [
        'of both families',
        { spec: { cidrs: ['10.96.0.0/16', 'fd00::/112'] } },
        'Name=x CIDRs=10.96.0.0/16,fd00::/112 Age=5m',
      ],
    ],
  ],
  [
    'IPAddress',
    [
      [
        'of a service',
        { spec: { parentRef: { group: '', resource: 'services', namespace: 'ns', name: 's' } } },
        'Name=x ParentRef=services/ns/s',
      ],
      [
        'of another group',
        { spec: { parentRef: { group: 'example.com', resource: 'Things', name: 's' } } },
        'Name=x ParentRef=things.example.com/s',
      ],
    ],
  ],
  [
    'EndpointSlice',
    [
      [
        'of many',
        {
          addressType: 'IPv4',
          ports: [{ port: 80 }, { name: 'http' }, {}],
          endpoints: [
            { addresses: ['10.0.0.1', '10.0.0.2'] },
            { addresses: ['10.0.0.3'] },
            { addresses: ['10.0.0.4'] },
          ],
        },
        'Name=x AddressType=IPv4 Ports=80,http,* Endpoints=10.0.0.1,10.0.0.2,10.0.0.3 + 1 more... Age=5m',
      ],
      ['of none', { addressType: 'IPv6' }, 'Name=x AddressType=IPv6 Ports=<unset> Endpoints=<unset> Age=5m'],
    ],
  ],
]);
