/** Container of a pod. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required, tooMany } from '../../../schema/field-error.ts';
import { dnsLabel, portName } from '../../../schema/names.ts';
import { matches, unique } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { portRange } from '../meta/addresses/port.ts';
import { VolumeDevices, VolumeMounts } from '../volume/volume-mounts.ts';
import { EnvFrom, EnvVar } from './env.ts';
import { pullPolicyOf } from './image-name.ts';
import { Lifecycle } from './lifecycle.ts';
import { LivenessProbe, ReadinessProbe, StartupProbe } from './probe.ts';
import { ContainerResources } from './resources.ts';
import { SecurityContext } from './security-context.ts';

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

const ContainerPorts = s.listMap(
  s.object('ContainerPort', 'A port that a container listens on.', port),
  'Ports that the container listens on. The list is informative: a port can be reached whether or not it ' +
    'is listed.',
  { keys: ['containerPort', 'protocol'], rules: [unique('name')] },
);

const ContainerResizePolicy = s.object(
  'ContainerResizePolicy',
  'What happens to a container when the amount of one of its resources is changed.',
  {
    resourceName: s.string('Resource that the policy is for: cpu or memory.', { zero: true }),
    restartPolicy: s.string(
      'NotRequired changes the amount of the running container, RestartContainer restarts it. Defaults to ' +
        'NotRequired.',
      { zero: true },
    ),
  },
);

const restartRule = {
  action: s.string(
    'Action to take when the rule applies: Restart for the container alone, RestartAllContainers for the ' +
      'whole pod.',
    { zero: true },
  ),
  exitCodes: s.object('ContainerRestartRuleOnExitCodes', 'Set of exit codes of a container.', {
    operator: s.string('Relation of the exit code to the values: In or NotIn.', { zero: true }),
    values: s.set(s.int32(), 'Exit codes to compare with, at most 255.'),
  }),
};
const ContainerRestartRule = s.object(
  'ContainerRestartRule',
  'Rule that decides on the restart of a container that has exited.',
  restartRule,
  { rules: [onExit] },
);

const container = {
  name: s.string('Name of the container, a DNS label, unique among all containers of the pod.', {
    required: true,
    rules: [matches(dnsLabel)],
  }),
  image: s.string('Image to run, such as nginx:1.27. Changing it restarts the container.', { required: true }),
  command: s.list(
    s.string(),
    'Entrypoint of the container, replacing that of the image; it is not run in a shell. $(NAME) is replaced ' +
      'by the value of an environment variable of the container, $$ stands for a literal $, and references to ' +
      'unknown variables are left unchanged.',
  ),
  args: s.list(
    s.string(),
    'Arguments of the entrypoint, with the same substitution as command. Defaults to the arguments of the ' + 'image.',
  ),
  workingDir: s.string(
    'Working directory of the entrypoint. Defaults to that of the image, or of the container runtime.',
    { omitZero: true },
  ),
  ports: ContainerPorts,
  envFrom: EnvFrom,
  env: s.listMap(EnvVar, 'Environment variables of the container. They take precedence over those of envFrom.', {
    keys: ['name'],
  }),
  resources: s.use(ContainerResources, 'Compute resources that the container requests and is limited to.', {
    default: {},
  }),
  resizePolicy: s.list(
    ContainerResizePolicy,
    'What happens to the container when its resources are changed, for each resource.',
  ),
  restartPolicy: s.enum(
    ['Always', 'Never', 'OnFailure'],
    'When the container is restarted after it has exited. Defaults to the restart policy of the pod. Always ' +
      'on an init container makes it a sidecar, which keeps running beside the containers.',
  ),
  restartPolicyRules: s.list(
    ContainerRestartRule,
    'Rules on exit codes, checked in order before restartPolicy, which must be set as well. At most 20. The ' +
      'first rule that applies decides.',
  ),
  volumeMounts: VolumeMounts,
  volumeDevices: VolumeDevices,
  livenessProbe: LivenessProbe,
  readinessProbe: ReadinessProbe,
  startupProbe: StartupProbe,
  lifecycle: Lifecycle,
  terminationMessagePath: s.string(
    'File inside the container whose content becomes the termination message in the status. Defaults to ' +
      '/dev/termination-log.',
    { default: '/dev/termination-log' },
  ),
  terminationMessagePolicy: s.enum(
    ['File', 'FallbackToLogsOnError'],
    'Source of the termination message: File reads terminationMessagePath; FallbackToLogsOnError uses the ' +
      'end of the log if that file is empty and the container failed. Defaults to File.',
    { default: 'File' },
  ),
  imagePullPolicy: s.enum(
    ['Always', 'IfNotPresent', 'Never'],
    'When the image is pulled: Always, IfNotPresent or Never. Defaults to Always if the tag is latest or ' +
      'missing, otherwise to IfNotPresent.',
    { default: ({ image }: { image?: string }) => pullPolicyOf(image) },
  ),
  securityContext: s.use(SecurityContext, 'Security settings of the container. They override those of the pod.'),
  stdin: s.boolean(
    'Whether standard input is kept open. If false, the default, reads from it return end of file at once.',
    { omitZero: true },
  ),
  stdinOnce: s.boolean(
    'Whether standard input is closed after the first client that attached has disconnected; it stays closed ' +
      'until the container restarts. Defaults to false.',
    { omitZero: true },
  ),
  tty: s.boolean('Allocates a terminal for the container. Requires stdin. Defaults to false.', { omitZero: true }),
};
export type Container = ObjectType<typeof container>;

const rules = [terminalHasInput, restarts];

export const Container = s.object(
  'Container',
  'A container of a pod. In a running pod only its image can be changed, and its resources through the ' +
    'resize subresource.',
  container,
  { rules },
);

/** A container that is added to a running pod for debugging. */
export const EphemeralContainer = s.object(
  'EphemeralContainer',
  'A container that is added to a running pod for debugging. It is never restarted, has no resource ' +
    'guarantees, and cannot be removed or changed.',
  {
    ...container,
    targetContainerName: s.string(
      'Container of the pod whose process namespace it joins. If empty, it uses the namespaces of the pod.',
    ),
  },
  { rules },
);

function terminalHasInput({ tty, stdin }: Container): FieldError | undefined {
  return tty && !stdin ? invalid('tty', tty, 'may only be true when `stdin` is true') : undefined;
}

const MAX_RESTART_RULES = 20;
const MAX_EXIT_CODES = 255;
const restartActions = ['Restart', 'RestartAllContainers'];
const exitCodeOperators = ['In', 'NotIn'];

function restarts({ restartPolicy, restartPolicyRules }: Container): FieldError[] {
  if (!restartPolicyRules) return [];
  const found: FieldError[] = [];
  if (!restartPolicy) found.push(required('restartPolicy', 'must specify restartPolicy when restart rules are used'));
  if (restartPolicyRules.length > MAX_RESTART_RULES) {
    found.push(tooMany('restartPolicyRules', restartPolicyRules.length, MAX_RESTART_RULES));
  }
  return found;
}

function onExit({ action, exitCodes }: ObjectType<typeof restartRule>): FieldError[] {
  const found: FieldError[] = [];
  if (!restartActions.includes(action)) found.push(notSupported('action', action, restartActions));
  if (!exitCodes) return [...found, required('exitCodes', 'must be specified')];
  const { operator, values = [] } = exitCodes;
  if (!exitCodeOperators.includes(operator)) {
    found.push(notSupported('exitCodes.operator', operator, exitCodeOperators));
  }
  if (values.length > MAX_EXIT_CODES) found.push(tooMany('exitCodes.values', values.length, MAX_EXIT_CODES));
  return found;
}
