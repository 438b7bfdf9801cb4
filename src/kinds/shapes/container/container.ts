/** One container of a pod: what runs, with what, and when it counts as alive. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, notSupported, required, tooMany } from '../../../schema/field-error.ts';
import { dnsLabel } from '../../../schema/names.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { VolumeDevices, VolumeMounts } from '../volume/volume-mounts.ts';
import { ContainerPorts } from './container-port.ts';
import { EnvFrom, EnvVar } from './env.ts';
import { pullPolicyOf } from './image-name.ts';
import { Lifecycle } from './lifecycle.ts';
import { LivenessProbe, ReadinessProbe, StartupProbe } from './probe.ts';
import { ContainerResources } from './resources.ts';
import { SecurityContext } from './security-context.ts';

const ContainerResizePolicy = s.object('ContainerResizePolicy', {
  resourceName: s.string({ zero: true }),
  restartPolicy: s.string({ zero: true }),
});

const restartRule = {
  action: s.string({ zero: true }),
  exitCodes: s.object('ContainerRestartRuleOnExitCodes', {
    operator: s.string({ zero: true }),
    values: s.set(s.int32()),
  }),
};
const ContainerRestartRule = s.object('ContainerRestartRule', restartRule, { rules: [onExit] });

const container = {
  name: s.string({
    required: true,
    description: 'A DNS label, unique among the containers of the pod. Cannot be changed.',
    rules: [matches(dnsLabel)],
  }),
  image: s.string({
    required: true,
    description: 'The image to run. The only field that a running pod lets change in place.',
  }),
  command: s.list(s.string(), {
    description:
      "Replaces the image's entrypoint; not run in a shell. $(NAME) becomes the value of that variable of the " +
      'container; a name that is not set stays as it is, and $$ stands for one $. Cannot be changed.',
  }),
  args: s.list(s.string(), {
    description: "Arguments of the entrypoint, with the same $(NAME) rules; where absent, the image's own.",
  }),
  workingDir: s.string({
    omitZero: true,
    description: 'Where the command starts; where absent, as the image or the runtime says.',
  }),
  ports: ContainerPorts,
  envFrom: EnvFrom,
  env: s.listMap(EnvVar, { keys: ['name'], description: 'Variables of the container. Cannot be changed.' }),
  resources: s.use(ContainerResources, { default: {}, description: 'Compute resources that the container needs.' }),
  resizePolicy: s.list(ContainerResizePolicy),
  restartPolicy: s.enum(['Always', 'Never', 'OnFailure'], {
    description: "Where absent, the pod's. Always makes an init container run beside the others, as a sidecar.",
  }),
  restartPolicyRules: s.list(ContainerRestartRule),
  volumeMounts: VolumeMounts,
  volumeDevices: VolumeDevices,
  livenessProbe: LivenessProbe,
  readinessProbe: ReadinessProbe,
  startupProbe: StartupProbe,
  lifecycle: s.use(Lifecycle, { description: 'Actions on events in the life of the container.' }),
  terminationMessagePath: s.string({
    default: '/dev/termination-log',
    description: 'The file that tells why the container ended; its end is kept in the status.',
  }),
  terminationMessagePolicy: s.enum(['File', 'FallbackToLogsOnError'], {
    default: 'File',
    description: 'FallbackToLogsOnError takes the end of the log when the file is empty and the container failed.',
  }),
  imagePullPolicy: s.enum(['Always', 'IfNotPresent', 'Never'], {
    default: ({ image }: { image?: string }) => pullPolicyOf(image),
    description: 'When the image is fetched; where absent, Always for the tag latest, else IfNotPresent.',
  }),
  securityContext: s.use(SecurityContext, { description: 'With which rights the container runs.' }),
  stdin: s.boolean({
    omitZero: true,
    description: 'Keeps standard input open; where not set, reading it ends at once.',
  }),
  stdinOnce: s.boolean({
    omitZero: true,
    description: 'Closes standard input when the first client that attached leaves; it stays closed until a restart.',
  }),
  tty: s.boolean({ omitZero: true, description: 'Gives the container a terminal; needs `stdin`.' }),
};
export type Container = ObjectType<typeof container>;

const rules = [terminalHasInput, restarts];

export const Container = s.object('Container', container, { rules });

/** A container that is added to a running pod to look into it. */
export const EphemeralContainer = s.object(
  'EphemeralContainer',
  {
    ...container,
    targetContainerName: s.string({ description: 'The container whose processes it can see.' }),
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
