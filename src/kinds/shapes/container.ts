/** One container of a pod: what runs, with what, and when it counts as alive. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
import { ContainerPort } from './container-port.ts';
import { EnvFromSource, EnvVar } from './env.ts';
import { pullPolicyOf } from './image-name.ts';
import { Lifecycle } from './lifecycle.ts';
import { Probe } from './probe.ts';
import { ResourceRequirements } from './resources.ts';
import { SecurityContext } from './security-context.ts';
import { VolumeDevice, VolumeMount } from './volume-mounts.ts';

const ContainerResizePolicy = s.object('ContainerResizePolicy', {
  resourceName: s.string({ zero: true }),
  restartPolicy: s.string({ zero: true }),
});

const ContainerRestartRule = s.object('ContainerRestartRule', {
  action: s.string({ zero: true }),
  exitCodes: s.object('ContainerRestartRuleOnExitCodes', {
    operator: s.string({ zero: true }),
    values: s.set(s.int32()),
  }),
});
export type ContainerRestartRule = TypeOf<typeof ContainerRestartRule>;

const fields = {
  name: s.string({
    required: true,
    description: 'A DNS label, unique among the containers of the pod. Cannot be changed.',
  }),
  image: s.string({ description: 'The image to run. The only field that a running pod lets change in place.' }),
  command: s.list(s.string(), {
    description:
      "Replaces the image's entrypoint; not run in a shell. $(NAME) becomes the value of that variable of the " +
      'container; a name that is not set stays as it is, and $$ stands for one $. Cannot be changed.',
  }),
  args: s.list(s.string(), {
    description: "Arguments of the entrypoint, with the same $(NAME) rules; where absent, the image's own.",
  }),
  workingDir: s.string({ description: 'Where the command starts; where absent, as the image or the runtime says.' }),
  ports: s.listMap(ContainerPort, {
    keys: ['containerPort', 'protocol'],
    description: 'Ports of the container, for information: a port that is not listed can be reached all the same.',
  }),
  envFrom: s.list(EnvFromSource, {
    description:
      'Whole ConfigMaps and Secrets as variables. Keys must be C identifiers: others are left out and reported in an ' +
      'event when the container starts. Of equal keys the last source counts, and `env` before all of them.',
  }),
  env: s.listMap(EnvVar, { keys: ['name'], description: 'Variables of the container. Cannot be changed.' }),
  resources: s.use(ResourceRequirements, { default: {}, description: 'Compute resources that the container needs.' }),
  resizePolicy: s.list(ContainerResizePolicy),
  restartPolicy: s.string({ description: 'Always makes an init container run beside the others, as a sidecar.' }),
  restartPolicyRules: s.list(ContainerRestartRule),
  volumeMounts: s.listMap(VolumeMount, { keys: ['mountPath'], description: "The pod's volumes in its file system." }),
  volumeDevices: s.listMap(VolumeDevice, { keys: ['devicePath'] }),
  livenessProbe: s.use(Probe, { description: 'When it fails, the container is restarted.' }),
  readinessProbe: s.use(Probe, { description: 'While it fails, services send nothing to the pod.' }),
  startupProbe: s.use(Probe, { description: 'Until it succeeds, the other probes wait.' }),
  lifecycle: s.use(Lifecycle, { description: 'Actions on events in the life of the container.' }),
  terminationMessagePath: s.string({
    default: '/dev/termination-log',
    description: 'The file that tells why the container ended; its end is kept in the status.',
  }),
  terminationMessagePolicy: s.enum(['FallbackToLogsOnError', 'File'], {
    default: 'File',
    description: 'FallbackToLogsOnError takes the end of the log when the file is empty and the container failed.',
  }),
  imagePullPolicy: s.enum(['Always', 'IfNotPresent', 'Never'], {
    default: (container: { image?: string }) => pullPolicyOf(container.image),
    description: 'When the image is fetched: Always for the tag latest, else IfNotPresent, where absent.',
  }),
  securityContext: s.use(SecurityContext, { description: 'With which rights the container runs.' }),
  stdin: s.boolean({ description: 'Keeps standard input open; where not set, reading it ends at once.' }),
  stdinOnce: s.boolean({
    description: 'Closes standard input when the first client that attached leaves; it stays closed until a restart.',
  }),
  tty: s.boolean({ description: 'Gives the container a terminal; needs `stdin`.' }),
};

export const Container = s.object('Container', fields);
export type Container = TypeOf<typeof Container>;

/** A container that is added to a running pod to look into it. */
export const EphemeralContainer = s.object('EphemeralContainer', {
  ...fields,
  targetContainerName: s.string({ description: 'The container whose processes it can see.' }),
});
export type EphemeralContainer = TypeOf<typeof EphemeralContainer>;
