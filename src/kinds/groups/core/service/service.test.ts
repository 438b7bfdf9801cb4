import { describe, expect, it } from 'vitest';
import { create } from '../../../../../test/support/kinds/test-object.ts';
import { decode } from '../../../../schema/decode/decode.ts';
import { Service } from './service.ts';

const metadata = { name: 's', namespace: 'n' };
const service = (spec: object) => ({ metadata, spec });
const web = { port: 80, targetPort: 8080 };

describe('a new Service', () => {
  it.each([
    [
      'for pods',
      { selector: { app: 'x' }, ports: [{ port: 80 }] },
      {
        selector: { app: 'x' },
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        type: 'ClusterIP',
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
      },
    ],
    [
      'on a port of every node',
      { type: 'NodePort', ports: [{ port: 80, targetPort: 'web', nodePort: 0 }] },
      {
        type: 'NodePort',
        ports: [{ port: 80, protocol: 'TCP', targetPort: 'web' }],
        sessionAffinity: 'None',
        externalTrafficPolicy: 'Cluster',
        internalTrafficPolicy: 'Cluster',
      },
    ],
    [
      'behind a load balancer, faithful to its clients',
      { type: 'LoadBalancer', ports: [{ port: 80, targetPort: 0 }], sessionAffinity: 'ClientIP' },
      {
        type: 'LoadBalancer',
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
        allocateLoadBalancerNodePorts: true,
        externalTrafficPolicy: 'Cluster',
        internalTrafficPolicy: 'Cluster',
      },
    ],
    [
      'that is an alias',
      { type: 'ExternalName', externalName: 'example.com', sessionAffinityConfig: { clientIP: {} } },
      { type: 'ExternalName', externalName: 'example.com', sessionAffinity: 'None' },
    ],
    [
      'with addresses of its own',
      { ports: [{ port: 80 }], externalIPs: ['203.0.113.1'] },
      {
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
        externalIPs: ['203.0.113.1'],
        type: 'ClusterIP',
        sessionAffinity: 'None',
        externalTrafficPolicy: 'Cluster',
        internalTrafficPolicy: 'Cluster',
      },
    ],
  ])('%s has its defaults', (_what, spec, expected) => {
    expect(create(Service, service(spec))).toEqual({
      object: { metadata, spec: expected, status: { loadBalancer: {} } },
      errors: [],
    });
  });

  it('has an empty load balancer in its status, whatever was sent', () => {
    const sent = { ...service({ ports: [web] }), status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } };
    expect(create(Service, sent).object.status).toEqual({ loadBalancer: {} });
  });

  it('without anything says what it needs', () => {
    expect(decode(Service.hub.schema, { metadata })).toHaveProperty('spec.type', 'ClusterIP');
    expect(create(Service, { metadata }).errors).toEqual(['spec.ports: Required value']);
  });

  it('can be found by its address and its type', () => {
    const { object } = create(Service, service({ clusterIP: '10.0.0.9', ports: [web] }));
    expect(Service.selectable?.['spec.clusterIP']?.(object)).toBe('10.0.0.9');
    expect(Service.selectable?.['spec.type']?.(object)).toBe('ClusterIP');
  });
});

it.each([
  [
    'leaves its address behind',
    { clusterIP: '10.0.0.1', type: 'NodePort', ports: [{ port: 80, nodePort: 30000 }] },
    [undefined, undefined],
  ],
  ['stays headless', { clusterIP: 'None', ports: [{ port: 80 }] }, ['None', undefined]],
])('an exported Service %s', (_what, spec, [clusterIP, nodePort]) => {
  const { object } = create(Service, service(spec));
  Service.onExport?.(object, false);
  expect(object.spec.clusterIP).toBe(clusterIP);
  expect(object.spec.ports?.[0]?.nodePort).toBe(nodePort);
});
