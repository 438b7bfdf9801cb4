/** Ports that a container listens on. */
import { s } from '../../../schema/builders.ts';
import { portName } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';
import { portRange } from '../meta/port.ts';

const port = {
  name: s.string({ omitZero: true, rules: [matches(portName)] }),
  hostPort: s.int32({ omitZero: true, ...portRange }),
  containerPort: s.int32({ omitZero: true, required: true, ...portRange }),
  protocol: s.enum(['SCTP', 'TCP', 'UDP'], { default: 'TCP' }),
  hostIP: s.string({ omitZero: true }),
};

export const ContainerPorts = s.listMap(s.object('ContainerPort', port), {
  keys: ['containerPort', 'protocol'],
  description: 'Ports of the container, for information: a port that is not listed can be reached all the same.',
  rules: [unique('name')],
});
