/** Ports that a container listens on. */
import { s } from '../../../schema/builders.ts';
import { portName } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';
import { portRange } from '../meta/addresses/port.ts';

const port = {
  name: s.string({
    omitZero: true,
    description:
      'Name of the port, unique within the pod, which services and probes can refer to. At most 15 lower-case ' +
      'letters, digits and hyphens, with at least one letter.',
    rules: [matches(portName)],
  }),
  hostPort: s.int32({
    omitZero: true,
    ...portRange,
    description:
      'Port of the node that is forwarded to the container, from 1 to 65535. With hostNetwork it must equal ' +
      'containerPort. Most pods do not need it; use a service instead.',
  }),
  containerPort: s.int32({
    omitZero: true,
    required: true,
    ...portRange,
    description: 'Port number inside the container, from 1 to 65535.',
  }),
  protocol: s.enum(['SCTP', 'TCP', 'UDP'], {
    default: 'TCP',
    description: 'Protocol of the port: TCP, UDP or SCTP. Defaults to TCP.',
  }),
  hostIP: s.string({
    omitZero: true,
    description: 'Address of the node that hostPort is bound to. Defaults to all addresses.',
  }),
};

export const ContainerPorts = s.listMap(
  s.object('ContainerPort', port, { description: 'A port that a container listens on.' }),
  {
    keys: ['containerPort', 'protocol'],
    description:
      'Ports that the container listens on. The list is informative: a port can be reached whether or not it ' +
      'is listed.',
    rules: [unique('name')],
  },
);
