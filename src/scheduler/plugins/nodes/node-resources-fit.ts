/** Rejects nodes that lack requested resources, and prefers the least allocated. */
import type { NodeInfo } from '../../cluster/node-info.ts';
import { PodInfo } from '../../cluster/pod-info.ts';
import { type Allocatable, allocatableOf, type Requests } from '../../cluster/resources.ts';
import { type Plugin, type Rejection, rejection } from '../../framework/plugin.ts';
import { MAX_SCORE } from '../../framework/scores.ts';

const CROWDED = rejection('Too many pods', true);

export const nodeResourcesFit: Plugin<Requests, Requests> = {
  name: 'NodeResourcesFit',
  preFilter: ({ requests }) => ({ type: 'go', state: requests }),
  filter(_, node, requests) {
    // A quick check with rounded numbers; nodes that fail it are measured exactly.
    const fitsRounded = node.freePods > 0 && requests.cpu <= node.freeCpu && requests.kiB <= node.freeKiB;
    return fitsRounded && requests.storage === 0 && requests.others === undefined ? undefined : missing(node, requests);
  },
  explain: (_, node, requests) => [
    ...(isCrowded(node) ? [`runs ${node.pods.size} pods of at most ${node.allocatable.pods}`] : []),
    ...shortagesOn(node, requests).map(shortageText),
  ],
  weight: 1,
  preScore: ({ requests }) => requests,
  score(_, { allCpu: cpu, allKiB: memory, likelyCpu, likelyKiB }, requests) {
    let sum = 0;
    let weights = 0;
    if (cpu > 0) {
      sum += free(likelyCpu + requests.likelyCpu, cpu);
      weights++;
    }
    if (memory > 0) {
      sum += free(likelyKiB + requests.likelyKiB, memory);
      weights++;
    }
    return weights === 0 ? 0 : Math.trunc(sum / weights);
  },
  hints: {
    Pod: ({ type, object, old }, { uid, requests }) => {
      if (type === 'delete') return true;
      if (type === 'add') return false;
      if (object.metadata.uid === uid) return isLess(PodInfo.of(object).requests, PodInfo.of(old).requests, undefined);
      return isLess(PodInfo.of(object).requests, PodInfo.of(old).requests, requests);
    },
    Node({ type, object, old }, { requests }) {
      if (type === 'delete') return false;
      const now = allocatableOf(object);
      return isLargeEnough(now, requests) && (type === 'add' || hasGrown(now, allocatableOf(old), requests));
    },
  },
};

function free(used: number, capacity: number): number {
  return used > capacity ? 0 : Math.trunc(((capacity - used) * MAX_SCORE) / capacity);
}

/** Returns the insufficient resources; undefined when all are sufficient. */
function missing(node: NodeInfo, requests: Requests): Rejection | undefined {
  const shortages = shortagesOn(node, requests);
  const crowded = isCrowded(node) ? CROWDED.reasons : [];
  if (shortages.length === 0 && crowded.length === 0) return undefined;
  return {
    reasons: [...crowded, ...shortages.map(({ name }) => `Insufficient ${name}`)],
    isResolvable: shortages.every(({ wanted, has }) => wanted <= has),
  };
}

const isCrowded = ({ pods, allocatable }: NodeInfo) => pods.size + 1 > allocatable.pods;

function shortagesOn(node: NodeInfo, { cpu, memory, storage, others }: Requests): Shortage[] {
  const { allocatable } = node;
  const shortages: Shortage[] = [];
  const check = (name: string, wanted: number, has: number, used: number) => {
    if (wanted > 0 && wanted > has - used) shortages.push({ name, wanted, has, used });
  };
  check('cpu', cpu, allocatable.cpu, node.cpu);
  check('memory', memory, allocatable.memory, node.memory);
  check('ephemeral-storage', storage, allocatable.storage, node.storage);
  if (others) {
    for (const [name, amount] of others) {
      check(name, amount, allocatable.others?.get(name) ?? 0, node.others.get(name) ?? 0);
    }
  }
  return shortages;
}

/** Reports whether a pod requests less than before of a resource that the waiting pod needs. */
function isLess(now: Requests, before: Requests, wanted: Requests | undefined): boolean {
  if (now.cpu < before.cpu && wanted?.cpu !== 0) return true;
  if (now.memory < before.memory && wanted?.memory !== 0) return true;
  if (now.storage < before.storage && wanted?.storage !== 0) return true;
  return [...(before.others ?? [])].some(
    ([name, amount]) => (now.others?.get(name) ?? 0) < amount && (!wanted || (wanted.others?.get(name) ?? 0) > 0),
  );
}

function isLargeEnough(has: Allocatable, { cpu, memory, storage, others }: Requests): boolean {
  return (
    has.pods > 0 &&
    cpu <= has.cpu &&
    memory <= has.memory &&
    storage <= has.storage &&
    [...(others ?? [])].every(([name, amount]) => amount <= (has.others?.get(name) ?? 0))
  );
}

function hasGrown(now: Allocatable, before: Allocatable, { cpu, memory, storage, others }: Requests): boolean {
  return (
    now.pods > before.pods ||
    (cpu > 0 && now.cpu > before.cpu) ||
    (memory > 0 && now.memory > before.memory) ||
    (storage > 0 && now.storage > before.storage) ||
    [...(others ?? [])].some(([name]) => (now.others?.get(name) ?? 0) > (before.others?.get(name) ?? 0))
  );
}

/** A resource of which a node has too little for a pod; processors in millicores, memory and storage in bytes. */
interface Shortage {
  readonly name: string;
  readonly wanted: number;
  readonly has: number;
  readonly used: number;
}

const BYTES = /^(memory|ephemeral-storage|hugepages-.*)$/;

/** Returns a text such as `requests 16 CPUs, 1.75 of 2 free`. */
function shortageText({ name, wanted, has, used }: Shortage): string {
  const isBytes = BYTES.test(name);
  const text = isBytes ? binary : (amount: number) => decimal(name === 'cpu' ? amount / 1000 : amount);
  const unit = name === 'cpu' ? (wanted === 1000 ? 'CPU' : 'CPUs') : isBytes ? `of ${name}` : name;
  return `requests ${text(wanted)} ${unit}, ${text(Math.max(0, has - used))} of ${text(has)} free`;
}

/** Thousandths are the finest amount. */
const decimal = (amount: number) => String(Math.round(amount * 1000) / 1000);

/** Formats bytes with a suffix such as Gi, and as many digits as are needed to tell close amounts apart. */
function binary(bytes: number): string {
  const suffixes = ['Ti', 'Gi', 'Mi', 'Ki'];
  const index = suffixes.findIndex((_, each) => bytes >= 1024 ** (suffixes.length - each));
  return index < 0 ? String(bytes) : `${decimal(bytes / 1024 ** (suffixes.length - index))}${suffixes[index]}`;
}
