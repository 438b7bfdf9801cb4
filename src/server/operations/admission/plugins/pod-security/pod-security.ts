import { forbidden } from '../../../../../api/errors.ts';
import { deepEqual } from '../../../../../base/json/tree.ts';
import { DaemonSet } from '../../../../../kinds/groups/apps/daemon-set.ts';
import { Deployment } from '../../../../../kinds/groups/apps/deployment.ts';
import { ReplicaSet } from '../../../../../kinds/groups/apps/replica-set.ts';
import { StatefulSet } from '../../../../../kinds/groups/apps/stateful-set.ts';
import { CronJob } from '../../../../../kinds/groups/batch/cron-job.ts';
import { Job } from '../../../../../kinds/groups/batch/job.ts';
import { Namespace } from '../../../../../kinds/groups/core/namespace.ts';
import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { PodTemplate } from '../../../../../kinds/groups/core/pod/pod-template.ts';
import { ReplicationController } from '../../../../../kinds/groups/core/replication-controller.ts';
import type { Kind, KubeObject } from '../../../../../kinds/kind.ts';
import type { Container } from '../../../../../kinds/shapes/container/container.ts';
import type { AdmissionRequest } from '../../../../objects/admission/request.ts';
import { invalidObject } from '../../../../objects/body/check.ts';
import type { Reader } from '../../../../objects/ports.ts';
import { objectNamed, objectsIn } from '../../../../objects/reads/lookup.ts';
import type { AdmissionPlugin } from '../../plugin.ts';
import type { PodLike } from './control.ts';
import { violations, violationsText } from './controls/all.ts';
import { compareLevels, isOpen, LABEL_PREFIX, type LevelVersion, levelText, type Policy, policyOf } from './policy.ts';

/** Declared as a method, because each function is only called with objects of its kind. */
type TemplateOf = { template(object: KubeObject): PodLike | undefined }['template'];

interface Workload extends KubeObject {
  spec: { template: PodLike };
}

const templates = new Map<Kind, TemplateOf>([
  [PodTemplate, ({ template }: PodTemplate) => template],
  [CronJob, ({ spec }: CronJob) => spec.jobTemplate.spec.template],
  ...[ReplicationController, ReplicaSet, Deployment, DaemonSet, StatefulSet, Job].map((kind): [Kind, TemplateOf] => [
    kind,
    ({ spec }: Workload) => spec.template,
  ]),
]);

/** Subresources that change the containers of a pod. */
const changing = ['ephemeralcontainers', 'resize'];

/**
 * Enforces the standard that the labels of a pod's namespace choose: violations are rejected, annotated in the audit
 * log or warned about. Templates are never rejected; their pods are checked when they are created.
 */
export const podSecurity: AdmissionPlugin = {
  name: 'PodSecurity',

  handles(kind, operation, subresource) {
    if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
    if (kind === Pod) return !subresource || (operation === 'UPDATE' && changing.includes(subresource));
    return !subresource && (kind === Namespace || templates.has(kind));
  },

  validate(core, request) {
    if (request.kind === Namespace) {
      const wanted = newEnforcement(request);
      if (wanted) for (const text of existingPods(core, request.name, wanted)) request.warn(text);
      return;
    }
    const namespace = objectNamed(core, Namespace, '', request.namespace);
    const policy = policyOf(namespace?.metadata.labels);
    if (request.kind === Pod) validatePod(request, policy);
    else validateTemplate(request, policy);
  },
};

/** Returns the newly enforced level; undefined when it is not stricter than before. */
function newEnforcement(request: AdmissionRequest): LevelVersion | undefined {
  const { enforce, errors } = policyOf(request.object?.metadata.labels);
  const before = request.old && policyOf(request.old.metadata.labels);
  if (errors.length > 0 && !deepEqual(errors, before?.errors)) throw invalidObject(Namespace, request.name, errors);
  if (!before || enforce.level === 'privileged') return undefined;
  const isSameVersion = enforce.version === before.enforce.version;
  return isSameVersion && compareLevels(enforce.level, before.enforce.level) <= 0 ? undefined : enforce;
}

function validatePod(request: AdmissionRequest, policy: Policy): void {
  if (isOpen(policy)) {
    request.annotate(`${LABEL_PREFIX}enforce-policy`, 'privileged:latest');
    return;
  }
  const pod = request.object as Pod;
  if (request.old && !bringsImages(pod, request.old as Pod)) return;
  request.annotate(`${LABEL_PREFIX}enforce-policy`, levelText(policy.enforce));
  const found = violations(policy.enforce, pod);
  note(request, policy, pod);
  if (found.length > 0) {
    const why = `violates PodSecurity "${levelText(policy.enforce)}": ${violationsText(found)}`;
    throw forbidden(Pod, request.name, why);
  }
  warn(request, policy, pod);
}

function validateTemplate(request: AdmissionRequest, policy: Policy): void {
  if (policy.errors.length === 0 && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return;
  const { kind, object } = request;
  const template = object && templates.get(kind)?.(object);
  if (!template) return;
  note(request, policy, template);
  warn(request, policy, template);
}

function note(request: AdmissionRequest, { audit, errors }: Policy, pod: PodLike): void {
  if (errors.length > 0) {
    const texts = errors.map(({ field, message }) => `${field}: ${message}`);
    const listed = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
    request.annotate(`${LABEL_PREFIX}error`, `Failed to parse policy: ${listed}`);
  }
  const found = violations(audit, pod);
  if (found.length > 0) request.annotate(`${LABEL_PREFIX}audit-violations`, wouldViolate(audit, violationsText(found)));
}

function warn(request: AdmissionRequest, { warn: level }: Policy, pod: PodLike): void {
  const found = violations(level, pod);
  if (found.length > 0) request.warn(wouldViolate(level, violationsText(found)));
}

function wouldViolate(level: LevelVersion, text: string): string {
  return `would violate PodSecurity "${levelText(level)}": ${text}`;
}

/** Reports whether an update changes the images of containers, whose pod must then be checked. */
function bringsImages({ spec }: Pod, { spec: old }: Pod): boolean {
  const differ = (now: readonly Container[] = [], before: readonly Container[] = []) =>
    now.length !== before.length || now.some(({ image }, index) => image !== before[index]?.image);
  if (differ(spec.containers, old.containers) || differ(spec.initContainers, old.initContainers)) return true;
  return (spec.ephemeralContainers ?? []).some(
    ({ name, image }) => old.ephemeralContainers?.find((each) => each.name === name)?.image !== image,
  );
}

type Ports = Pick<Reader, 'cache'>;

/** Limit for the checked pods: it is only a warning, and the client waits for it. */
const MAX_CHECKED_PODS = 3000;

/** Returns warnings about running pods that violate a stricter level newly enforced by their namespace. */
function existingPods(core: Ports, namespace: string, enforce: LevelVersion): string[] {
  const pods = differentFirst(objectsIn(core, Pod, namespace));
  const names = new Map<string, string[]>();
  for (const pod of pods.slice(0, MAX_CHECKED_PODS)) {
    const found = violations(enforce, pod);
    if (found.length === 0) continue;
    const reasons = found.map(({ reason }) => reason).join(', ');
    names.set(reasons, [...(names.get(reasons) ?? []), pod.metadata.name ?? '']);
  }
  const warnings: string[] = [];
  if (pods.length > MAX_CHECKED_PODS) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${MAX_CHECKED_PODS} of ${pods.length} existing pods`,
    );
  }
  if (names.size > 0) {
    warnings.push(
      `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${levelText(enforce)}"`,
    );
  }
  return [...warnings, ...[...names].map(([reasons, pods]) => `${listed(pods)}: ${reasons}`).sort()];
}

function listed(names: readonly string[]): string {
  const [first] = [...names].sort();
  if (names.length === 1) return first!;
  return `${first} (and ${names.length - 1} other pod${names.length === 2 ? '' : 's'})`;
}

/** Moves one pod of each controller to the front, since pods of one controller are alike. */
function differentFirst(pods: readonly Pod[]): readonly Pod[] {
  const seen = new Set<string>();
  const alike: Pod[] = [];
  const different = pods.filter((pod) => {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid;
    if (owner === undefined) return true;
    if (seen.has(owner)) {
      alike.push(pod);
      return false;
    }
    seen.add(owner);
    return true;
  });
  return [...different, ...alike];
}
