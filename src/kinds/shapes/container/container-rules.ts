/** Rules on the containers of a pod that depend on the rest of its spec. Paths are relative to the spec. */
import { addAll } from '../../../base/collections/add-all.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
  under,
} from '../../../schema/field-error.ts';
import type { PodSpecFields as PodSpec } from '../pod/pod-spec-fields.ts';
import { claimNames, claimsOfContainer } from '../pod/resource-claims.ts';
import { type KnownVolumes, mountProblems } from '../volume/volume-mounts.ts';
import type { Container } from './container.ts';

/** Calls back with every container and its path. */
export function visitContainers(spec: PodSpec, visit: (container: Container, path: string) => void): void {
  for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
    spec[list]?.forEach((container, index) => {
      visit(container, `${list}[${index}]`);
    });
  }
}

export function containerRules(spec: PodSpec): FieldError[] {
  const found: FieldError[] = [];
  const add = (path: string, problems: readonly FieldError[]) => {
    for (const each of under(path, problems)) found.push(each);
  };
  const names = new Set<string>();
  const hostPorts = new Set<string>();
  const volumes = knownVolumes(spec);
  const claims = claimNames(spec.resourceClaims);

  spec.containers?.forEach((container, index) => {
    add(`containers[${index}]`, [
      ...inPod(container, spec, { volumes, claims }),
      ...sameName(container.name, names),
      ...lifecycle(container, spec),
      ...portConflicts(container, hostPorts),
    ]);
  });
  spec.initContainers?.forEach((container, index) => {
    add(`initContainers[${index}]`, [
      ...inPod(container, spec, { volumes, claims }),
      ...sameName(container.name, names),
      ...(container.restartPolicy === 'Always' ? lifecycle(container, spec) : runsToTheEnd(container)),
      ...portConflicts(container, new Set()),
    ]);
  });
  const targets = new Set(spec.ephemeralContainers ? names : []);
  spec.ephemeralContainers?.forEach((container, index) => {
    const { targetContainerName: target } = container;
    add(`ephemeralContainers[${index}]`, [
      ...inPod(container, spec, { volumes, claims }),
      ...sameName(container.name, names),
      ...(target && !targets.has(target) ? [notFound('targetContainerName', target)] : []),
      ...onlyLooks(container),
    ]);
  });
  return found;
}

function knownVolumes({ volumes = [] }: PodSpec): KnownVolumes {
  return new Map(
    volumes.map(({ name, persistentVolumeClaim, ephemeral, emptyDir }) => [
      name,
      { claimed: persistentVolumeClaim !== undefined || ephemeral !== undefined, emptyDir: emptyDir !== undefined },
    ]),
  );
}

/** Names that containers refer to. */
interface Known {
  readonly volumes: KnownVolumes;
  readonly claims: ReadonlySet<string>;
}

/** Rules for every container. */
function inPod(container: Container, spec: PodSpec, { volumes, claims }: Known): FieldError[] {
  const found = mountProblems(container, volumes);
  const add = (problems: readonly FieldError[]) => {
    for (const each of problems) found.push(each);
  };
  if (container.env) add(envFileVolumes(container, volumes));
  if (container.resources.claims) {
    add(under('resources.claims', claimsOfContainer(container.resources.claims, claims)));
  }
  if (container.resizePolicy) add(under('resizePolicy', resizePolicies(container, spec)));
  if (container.securityContext?.procMount === 'Unmasked' && spec.hostUsers !== false) {
    const detail = '`hostUsers` must be false to use `Unmasked`';
    found.push(invalid('securityContext.procMount', 'Unmasked', detail));
  }
  return found;
}

/** Files with variables must be in an emptyDir volume of the pod. */
function envFileVolumes({ env = [] }: Container, volumes: KnownVolumes): FieldError[] {
  const found: FieldError[] = [];
  for (const [index, { valueFrom }] of env.entries()) {
    const name = valueFrom?.fileKeyRef?.volumeName;
    if (name === undefined) continue;
    const field = `env[${index}].valueFrom.fileKeyRef.volumeName`;
    const volume = volumes.get(name);
    if (!volume) found.push(notFound(field, name));
    else if (!volume.emptyDir) found.push(invalid(field, name, 'referenced volume must be of type emptyDir'));
  }
  return found;
}

const resizable = ['cpu', 'memory'];
const resizeActions = ['NotRequired', 'RestartContainer'];

function resizePolicies({ resizePolicy = [] }: Container, spec: PodSpec): FieldError[] {
  const seen = new Set<string>();
  return resizePolicy.flatMap(({ resourceName: name, restartPolicy: action }, index) => {
    const found: FieldError[] = [];
    if (seen.has(name)) found.push(duplicate(`[${index}]`, name));
    seen.add(name);
    if (!name) found.push(required(''));
    else if (!resizable.includes(name)) found.push(notSupported('', name, resizable));
    if (!action) found.push(required(''));
    else if (!resizeActions.includes(action)) found.push(notSupported('', action, resizeActions));
    if (spec.restartPolicy === 'Never' && action !== 'NotRequired') {
      found.push(invalid('', action, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
    return found;
  });
}

function sameName(name: string, seen: Set<string>): FieldError[] {
  if (!name) return [];
  if (seen.has(name)) return [duplicate('name', name)];
  seen.add(name);
  return [];
}

function lifecycle({ lifecycle: hooks }: Container, spec: PodSpec): FieldError[] {
  if (!hooks) return [];
  const grace = spec.terminationGracePeriodSeconds;
  const found: FieldError[] = [];
  for (const hook of ['postStart', 'preStop'] as const) {
    const seconds = hooks[hook]?.sleep?.seconds;
    if (seconds !== undefined && (seconds < 0 || seconds > grace)) {
      const detail = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
      found.push(invalid(`lifecycle.${hook}.sleep`, seconds, detail));
    }
  }
  if (hooks.stopSignal !== undefined) {
    addAll(found, under('lifecycle.stopSignal', stopSignal(hooks.stopSignal, spec.os?.name)));
  }
  return found;
}

const onlyForRunning = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** An init container that is not a sidecar completes before the others start. */
function runsToTheEnd(container: Container): FieldError[] {
  const found = onlyForRunning
    .filter((field) => container[field] !== undefined)
    .map((field) => forbidden(field, 'may not be set for init containers without restartPolicy=Always'));
  container.resizePolicy?.forEach(({ restartPolicy }, index) => {
    if (restartPolicy === 'RestartContainer') {
      const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      found.push(invalid(`resizePolicy[${index}].restartPolicy`, restartPolicy, detail));
    }
  });
  return found;
}

function portConflicts({ ports }: Container, seen: Set<string>): FieldError[] {
  const found: FieldError[] = [];
  ports?.forEach(({ hostPort, hostIP = '', protocol }, index) => {
    if (!hostPort) return;
    const key = `${protocol}/${hostIP}/${hostPort}`;
    if (seen.has(key)) found.push(duplicate(`ports[${index}].hostPort`, key));
    seen.add(key);
  });
  return found;
}

const notForLooking = [
  ...['ports', 'resources', 'resizePolicy', 'restartPolicy', 'restartPolicyRules'],
  ...['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'],
] as const;

/** Rules for ephemeral containers, which are not part of the workload. */
function onlyLooks(container: Container): FieldError[] {
  const detail = 'cannot be set for an Ephemeral Container';
  const set = container as unknown as Record<string, unknown>;
  const found = notForLooking
    .filter((field) => set[field] !== undefined && (field !== 'resources' || Object.keys(container.resources).length))
    .map((field) => forbidden(field, detail));
  container.volumeMounts?.forEach(({ subPath, subPathExpr }, index) => {
    if (subPath) found.push(forbidden(`volumeMounts[${index}].subPath`, detail));
    if (subPathExpr) found.push(forbidden(`volumeMounts[${index}].subPathExpr`, detail));
  });
  return found;
}

const plain = [
  ...['ABRT', 'ALRM', 'BUS', 'CHLD', 'CLD', 'CONT', 'FPE', 'HUP', 'ILL', 'INT', 'IO', 'IOT', 'KILL', 'PIPE', 'POLL'],
  ...['PROF', 'PWR', 'QUIT', 'SEGV', 'STKFLT', 'STOP', 'SYS', 'TERM', 'TRAP', 'TSTP', 'TTIN', 'TTOU', 'URG', 'USR1'],
  ...['USR2', 'VTALRM', 'WINCH', 'XCPU', 'XFSZ'],
];

/** Real-time signals are named relative to both ends of their range. */
const realTime = [
  ...Array.from({ length: 16 }, (_, n) => (n ? `RTMIN+${n}` : 'RTMIN')),
  ...Array.from({ length: 15 }, (_, n) => (n ? `RTMAX-${n}` : 'RTMAX')),
];

const signals: Readonly<Record<string, readonly string[]>> = {
  linux: [...plain, ...realTime].map((name) => `SIG${name}`).sort(),
  windows: ['SIGKILL', 'SIGTERM'],
};

/** Errors of a stop signal on an operating system. */
function stopSignal(signal: string, os: string | undefined): FieldError[] {
  if (os === undefined) return [forbidden('', 'may not be set for containers with empty `spec.os.name`')];
  const supported = Object.hasOwn(signals, os) ? signals[os] : undefined;
  return supported && !supported.includes(signal) ? [notSupported('', signal, supported)] : [];
}
