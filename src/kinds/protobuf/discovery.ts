import type { FieldNumbers } from './field-numbers.ts';

export const discovery: FieldNumbers = {
  'discovery.k8s.io/v1': {
    Endpoint: 'addresses conditions hostname? targetRef deprecatedTopology nodeName? zone? hints',
    EndpointConditions: 'ready? serving? terminating?',
    EndpointHints: 'forZones forNodes',
    EndpointPort: 'name? protocol? port? appProtocol?',
    EndpointSlice: 'metadata endpoints ports addressType',
    ForNode: 'name',
    ForZone: 'name',
  },
};
