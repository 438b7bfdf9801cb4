/**
 * Compares the requested state of a cluster with the actual one. Returns every difference as a sentence; none when all
 * is well.
 */
import { type ExpectedObject, type ExpectedObjects, keyOf, type Sized, type Work } from './expected-objects.ts';

/** Objects of these kinds in all namespaces. */
export interface Found {
  readonly namespaces: readonly any[];
  readonly nodes: readonly any[];
  readonly deployments: readonly any[];
  readonly replicasets: readonly any[];
  readonly statefulsets: readonly any[];
  readonly daemonsets: readonly any[];
  readonly controllerrevisions: readonly any[];
  readonly jobs: readonly any[];
  readonly pods: readonly any[];
  readonly configmaps: readonly any[];
  readonly endpoints: readonly any[];
  readonly resourcequotas: readonly any[];
}

/** Namespaces that every cluster has are not looked at. */
const OWN = /^(default|kube-.*)$/;

export function verdict(expected: ExpectedObjects, everything: Found): string[] {
  const found = Object.fromEntries(
    Object.entries(everything).map(([kind, all]) => [
      kind,
      all.filter(({ metadata }: any) => !OWN.test(metadata.namespace ?? '')),
    ]),
  ) as unknown as Found;
  return [
    ...sameNames(
      'namespace',
      expected.namespaces,
      found.namespaces.map(nameOf).filter((name) => !OWN.test(name)),
    ),
    ...sameNames('deployment', expected.deployments.keys(), found.deployments.map(at)),
    ...sameNames('stateful set', expected.statefulSets.keys(), found.statefulsets.map(at)),
    ...sameNames('daemon set', expected.daemonSets.keys(), found.daemonsets.map(at)),
    ...sameNames('job', expected.jobs.keys(), found.jobs.map(at)),
    ...orphans(found),
    ...found.deployments.flatMap((each) => deployment(each, expected.deployments.get(at(each)), found)),
    ...found.statefulsets.flatMap((each) => statefulSet(each, expected.statefulSets.get(at(each)), found)),
    ...found.daemonsets.flatMap((each) => daemonSet(each, expected.daemonSets.get(at(each)), found)),
    ...found.jobs.flatMap((each) => job(each, expected.jobs.get(at(each)), found)),
    ...bystanders(expected, found),
    ...addresses(found),
    ...quotas(found),
  ];
}

const nameOf = ({ metadata }: any): string => metadata.name;
const at = ({ metadata }: any): string => keyOf(metadata);
const controllerOf = ({ metadata }: any) => metadata.ownerReferences?.find(({ controller }: any) => controller);
const ownedBy = (all: readonly any[], owner: any) =>
  all.filter((each) => controllerOf(each)?.uid === owner.metadata.uid);

function sameNames(what: string, wanted: Iterable<string>, found: readonly string[]): string[] {
  const all = new Set(wanted);
  return [
    ...[...all].filter((name) => !found.includes(name)).map((name) => `${what} ${name} is missing`),
    ...found.filter((name) => !all.has(name)).map((name) => `${what} ${name} should be gone`),
  ];
}

/** Whatever has an owner has one that is there, and nothing is left without one. */
function orphans(found: Found): string[] {
  const owned = [...found.pods, ...found.replicasets, ...found.controllerrevisions];
  const owners = new Set(
    Object.values(found).flatMap((all: readonly any[]) => all.map(({ metadata }) => metadata.uid)),
  );
  return owned.filter((each) => !owners.has(controllerOf(each)?.uid)).map((each) => `${at(each)} belongs to nobody`);
}

const isReady = ({ status }: any) =>
  status.phase === 'Running' &&
  status.conditions?.some(({ type, status }: any) => type === 'Ready' && status === 'True');

/** Checks that there are `count` pods, all of them ready, of the image, and none being deleted. */
function podsOf(
  what: string,
  { pods, count, image }: { pods: readonly any[]; count: number; image: string },
): string[] {
  return [
    ...(pods.length === count ? [] : [`${what} has ${pods.length} pods instead of ${count}`]),
    ...pods.filter((pod) => !isReady(pod)).map((pod) => `${what}: ${nameOf(pod)} is not ready`),
    ...pods.filter(({ metadata }) => metadata.deletionTimestamp).map((pod) => `${what}: ${nameOf(pod)} is leaving`),
    ...pods
      .filter(({ spec }) => spec.containers[0].image !== image)
      .map((pod) => `${what}: ${nameOf(pod)} runs ${pod.spec.containers[0].image} instead of ${image}`),
  ];
}

/** Lists fields of a status that differ from the wanted ones. */
function status(what: string, object: any, wanted: Readonly<Record<string, unknown>>): string[] {
  const all = { observedGeneration: object.metadata.generation, ...wanted };
  return Object.entries(all)
    .filter(([field, value]) => (object.status[field] ?? 0) !== value)
    .map(([field, value]) => `${what} says ${field} ${object.status[field]} instead of ${value}`);
}

function deployment(object: any, wanted: Sized | undefined, { replicasets, pods, endpoints }: Found): string[] {
  if (!wanted) return [];
  const what = `deployment ${at(object)}`;
  const { replicas, image } = wanted;
  const sets = ownedBy(replicasets, object);
  const active = sets.filter(({ spec }) => spec.replicas > 0);
  const own = sets.flatMap((set) => ownedBy(pods, set));
  const counts = { replicas, updatedReplicas: replicas, readyReplicas: replicas, availableReplicas: replicas };
  return [
    ...(active.length === (replicas > 0 ? 1 : 0) ? [] : [`${what} has ${active.length} replica sets with pods`]),
    ...podsOf(what, { pods: own, count: replicas, image }),
    ...status(what, object, { ...counts, unavailableReplicas: 0 }),
    ...sets.flatMap((set) => status(`replica set ${at(set)}`, set, sizesOf(set))),
    ...reachable(what, object, { pods: own, endpoints }),
  ];
}

const sizesOf = ({ spec: { replicas } }: any) => ({ replicas, readyReplicas: replicas, availableReplicas: replicas });

function statefulSet(object: any, wanted: Sized | undefined, { pods, endpoints }: Found): string[] {
  if (!wanted) return [];
  const what = `stateful set ${at(object)}`;
  const { replicas, image, name } = wanted;
  const own = ownedBy(pods, object);
  const names = Array.from({ length: replicas }, (_, index) => `${name}-${index}`);
  return [
    ...sameNames(`${what}: pod`, names, own.map(nameOf)),
    ...podsOf(what, { pods: own, count: replicas, image }),
    ...status(what, object, {
      replicas,
      readyReplicas: replicas,
      availableReplicas: replicas,
      updatedReplicas: replicas,
    }),
    ...(object.status.currentRevision === object.status.updateRevision ? [] : [`${what} has two revisions`]),
    ...reachable(what, object, { pods: own, endpoints }),
  ];
}

function daemonSet(object: any, wanted: ExpectedObject | undefined, { pods, nodes }: Found): string[] {
  if (!wanted) return [];
  const what = `daemon set ${at(object)}`;
  const own = ownedBy(pods, object);
  const count = nodes.length;
  const counts = { desiredNumberScheduled: count, currentNumberScheduled: count, numberReady: count };
  return [
    ...sameNames(
      `${what}: node`,
      nodes.map(nameOf),
      own.map(({ spec }) => spec.nodeName),
    ),
    ...podsOf(what, { pods: own, count, image: wanted.image }),
    ...status(what, object, {
      ...counts,
      updatedNumberScheduled: count,
      numberAvailable: count,
      numberMisscheduled: 0,
    }),
  ];
}

/** Checks that it succeeded, and that each success was one pod that was counted once. */
function job(object: any, wanted: Work | undefined, { pods }: Found): string[] {
  if (!wanted) return [];
  const what = `job ${at(object)}`;
  const { completions } = wanted;
  const { conditions = [], succeeded, failed = 0, active = 0, uncountedTerminatedPods = {} } = object.status;
  const own = ownedBy(pods, object);
  const done = own.filter((pod) => pod.status.phase === 'Succeeded');
  const isComplete = conditions.some(({ type, status }: any) => type === 'Complete' && status === 'True');
  return [
    ...(isComplete ? [] : [`${what} is not complete`]),
    ...(succeeded === completions && failed === 0 && active === 0
      ? []
      : [`${what} counts ${succeeded} succeeded, ${failed} failed and ${active} active of ${completions}`]),
    ...(Object.keys(uncountedTerminatedPods).length === 0 ? [] : [`${what} has pods that are not counted`]),
    ...(done.length === completions && own.length === completions
      ? []
      : [`${what} has ${own.length} pods, of which ${done.length} succeeded, for ${completions}`]),
    ...own.filter(({ metadata }) => metadata.finalizers?.length).map((pod) => `${what}: ${nameOf(pod)} is held`),
  ];
}

/** The service of the same name leads to these pods. */
function reachable(
  what: string,
  { metadata }: any,
  { pods, endpoints }: { pods: readonly any[]; endpoints: readonly any[] },
): string[] {
  const told = endpoints.find((each) => at(each) === keyOf(metadata));
  const all: any[] = (told?.subsets ?? []).flatMap(({ addresses = [] }: any) => addresses);
  const uids = all.map(({ targetRef }) => targetRef.uid);
  const missing = pods.filter((pod) => !uids.includes(pod.metadata.uid));
  return missing.map((pod) => `${what}: the service does not lead to ${nameOf(pod)}`);
}

function bystanders({ bystanders: all }: ExpectedObjects, { pods }: Found): string[] {
  return all.flatMap(({ namespace, name, uid }) => {
    const pod = pods.find((each) => at(each) === `${namespace}/${name}`);
    if (pod?.metadata.uid !== uid) return [`bystander ${name} is gone`];
    const { ownerReferences, deletionTimestamp } = pod.metadata;
    const isTouched = deletionTimestamp || ownerReferences.length !== 1 || ownerReferences[0].kind !== 'ConfigMap';
    return isTouched || !isReady(pod) ? [`bystander ${name} was touched`] : [];
  });
}

function addresses({ pods }: Found): string[] {
  const all = pods.filter(isReady).map(({ status }) => status.podIP);
  return all.filter((each, index) => all.indexOf(each) !== index).map((each) => `two pods have the address ${each}`);
}

function quotas({ resourcequotas, pods }: Found): string[] {
  return resourcequotas.flatMap((quota) => {
    const { namespace } = quota.metadata;
    const counted = pods.filter(({ metadata, status }) => metadata.namespace === namespace && !isOver(status)).length;
    const used = quota.status.used?.pods;
    return used === String(counted) ? [] : [`the quota of ${namespace} counts ${used} pods instead of ${counted}`];
  });
}

const isOver = ({ phase }: any) => phase === 'Succeeded' || phase === 'Failed';
