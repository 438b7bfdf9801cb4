/** Ports that a container listens on. */
import { s } from '../../../schema/builders.ts';
import { portName } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';
import { portRange } from '../meta/addresses/port.ts';

const port = {
  name: s.string(
    'Name of the port, unique within the pod, which services and probes can refer to. At most 15 lower-case ' +
      'letters, digits and hyphens, with at least one letter.',
    { omitZero: true, rules: [matches(portName)] },
  ),
  hostPort: s.int32(
    'Port of the node that is forwarded to the container, from 1 to 65535. With hostNetwork it must equal ' +
      'containerPort. Most pods do not need it; use a service instead.',
    { omitZero: true, ...portRange },
  ),
  containerPort: s.int32('Port number inside the container, from 1 to 65535.', {
    omitZero: true,
    required: true,
    ...portRange,
  }),
  protocol: s.enum(['SCTP', 'TCP', 'UDP'], 'Protocol of the port: TCP, UDP or SCTP. Defaults to TCP.', {
    default: 'TCP',
  }),
  hostIP: s.string('Address of the node that hostPort is bound to. Defaults to all addresses.', { omitZero: true }),
};

export const ContainerPorts = s.listMap(
  s.object('ContainerPort', 'A port that a container listens on.', port),
  'Ports that the container listens on. The list is informative: a port can be reached whether or not it ' +
    'is listed.',
  { keys: ['containerPort', 'protocol'], rules: [unique('name')] },
);
