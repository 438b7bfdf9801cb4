/** Rejects nodes that lack requested resources, and prefers the least allocated. */
import type { NodeInfo } from '../../cluster/node-info.ts';
import { PodInfo } from '../../cluster/pod-info.ts';
import { type Allocatable, allocatableOf, type Requests } from '../../cluster/resources.ts';
import { type Plugin, type Refusal, refusal } from '../../framework/plugin.ts';
import { MAX_SCORE } from '../../framework/scores.ts';
import { type Shortage, shortageText } from './shortage.ts';

const CROWDED = refusal('Too many pods', true);

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
function missing(node: NodeInfo, requests: Requests): Refusal | undefined {
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
