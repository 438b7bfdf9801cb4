/** Pod affinity and anti-affinity, required and preferred, of the pod itself and of the pods on nodes. */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { PodQuery } from '../../cluster/pod-counts.ts';
import { PodInfo } from '../../cluster/pod-info.ts';
import { matchesTerm, type PodTerm } from '../../cluster/pod-terms.ts';
import type { World } from '../../cluster/world.ts';
import { type Plugin, rejection, SKIP } from '../../framework/plugin.ts';
import { MAX_SCORE } from '../../framework/scores.ts';
import { NO_LABELS } from '../../objects.ts';

const NOT_NEAR = rejection("node(s) didn't match pod affinity rules");
const TOO_NEAR = rejection("node(s) didn't match pod anti-affinity rules", true);
const UNWANTED = rejection("node(s) didn't satisfy existing pods anti-affinity rules", true);

/** Numbers by the value of a node label. */
interface Domain {
  readonly topologyKey: string;
  readonly counts: ReadonlyMap<string, number>;
}

interface State {
  /** Domains in which pods match all terms of the required affinity, for each term's label. */
  readonly near: readonly Domain[];
  /** True when the first pod of a group may go anywhere: no pod matches yet, and it matches itself. */
  readonly isFirst: boolean;
  readonly far: readonly Domain[];
  readonly unwanted: readonly Domain[];
}

interface Weighted extends Domain {
  readonly weight: number;
}

export const interPodAffinity: Plugin<State, readonly Weighted[]> = {
  name: 'InterPodAffinity',
  dependsOnPods: true,
  preFilter(pod, world) {
    const { required, requiredAnti } = pod.terms;
    const unwanted = domainsAgainst(pod, world);
    if (required.length === 0 && requiredAnti.length === 0 && unwanted.length === 0) return SKIP;
    const near = required.length > 0 ? domainsOf(required, together(required, world), world) : [];
    const isFirst = near.every(({ counts }) => counts.size === 0) && matchesAll(required, pod, world);
    const far = requiredAnti.flatMap((term) => domainsOf([term], query(term, world), world));
    return { type: 'go', state: { near, isFirst, far, unwanted } };
  },
  filter(_, { labels }, { near, isFirst, far, unwanted }) {
    let isNear = true;
    for (const { topologyKey, counts } of near) {
      const value = labels[topologyKey];
      if (value === undefined) return NOT_NEAR;
      if (!counts.has(value)) isNear = false;
    }
    if (!isNear && !isFirst) return NOT_NEAR;
    for (const { topologyKey, counts } of far) {
      const value = labels[topologyKey];
      if (value !== undefined && counts.has(value)) return TOO_NEAR;
    }
    for (const { topologyKey, counts } of unwanted) {
      const value = labels[topologyKey];
      if (value !== undefined && counts.has(value)) return UNWANTED;
    }
    return undefined;
  },
  weight: 2,
  preScore(pod, world) {
    const found: Weighted[] = [];
    const add = (terms: typeof pod.terms.preferred, sign: 1 | -1) => {
      for (const { term, weight } of terms) {
        for (const domain of domainsOf([term], query(term, world), world)) {
          if (domain.counts.size > 0) found.push({ ...domain, weight: sign * weight });
        }
      }
    };
    add(pod.terms.preferred, 1);
    add(pod.terms.preferredAnti, -1);
    if (!world.cluster.preferences.isEmpty) {
      const labels = world.namespaceLabels(pod.namespace);
      world.cluster.preferences.each(pod.labels, ({ term, weights }) => {
        if (matchesTerm(term, pod, labels)) found.push({ topologyKey: term.topologyKey, counts: weights, weight: 1 });
      });
    }
    return found.length > 0 ? merged(found) : undefined;
  },
  score(_, { labels }, domains) {
    let sum = 0;
    for (const { topologyKey, counts, weight } of domains) {
      const value = labels[topologyKey];
      if (value !== undefined) sum += weight * (counts.get(value) ?? 0);
    }
    return sum;
  },
  normalise(scores) {
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (const score of scores) {
      least = Math.min(least, score);
      most = Math.max(most, score);
    }
    const range = most - least;
    for (let i = 0; i < scores.length; i++) {
      scores[i] = range > 0 ? Math.trunc(MAX_SCORE * ((scores[i]! - least) / range)) : 0;
    }
  },
  hints: {
    Pod({ type, object, old }, pod, world) {
      if (type === 'update' && object.metadata.uid === pod.uid) return true;
      const { required, requiredAnti } = pod.terms;
      const isNear = (other: PodInfo) => required.length > 0 && matchesAll(required, other, world);
      const isFar = (other: PodInfo) => requiredAnti.every((term) => !matchesAll([term], other, world));
      const now = PodInfo.of(object);
      switch (type) {
        case 'add':
          return isNear(now);
        case 'update': {
          const before = PodInfo.of(old);
          return (!isNear(before) && isNear(now)) || (!isFar(before) && isFar(now));
        }
        case 'delete': {
          const labels = world.namespaceLabels(pod.namespace);
          return !isFar(now) || now.terms.requiredAnti.some((term) => matchesTerm(term, pod, labels));
        }
      }
    },
    Node({ type, object, old }, { terms }) {
      if (type === 'delete') return false;
      const labels = object.metadata.labels ?? NO_LABELS;
      const before = old?.metadata.labels ?? NO_LABELS;
      if (type === 'add') {
        return terms.required.every(({ topologyKey }) => labels[topologyKey] !== undefined);
      }
      return [...terms.required, ...terms.requiredAnti].some(
        ({ topologyKey }) => labels[topologyKey] !== before[topologyKey],
      );
    },
  },
};

/** Returns domains in which pods on nodes exclude this pod by anti-affinity. */
function domainsAgainst(pod: PodInfo, world: World): readonly Domain[] {
  const { antiTerms } = world.cluster;
  if (antiTerms.isEmpty) return NONE;
  const labels = world.namespaceLabels(pod.namespace);
  const found: Weighted[] = [];
  antiTerms.each(pod.labels, ({ term, weights }) => {
    if (matchesTerm(term, pod, labels)) found.push({ topologyKey: term.topologyKey, counts: weights, weight: 1 });
  });
  return merged(found);
}

/** Number of domains above which they are merged, so that a node is not looked up in thousands of them. */
const MAX_SEPARATE_DOMAINS = 16;

/** Merges many domains into one for each label, with the sums. */
function merged(domains: readonly Weighted[]): readonly Weighted[] {
  if (domains.length <= MAX_SEPARATE_DOMAINS) return domains;
  const sums = new Map<string, Map<string, number>>();
  for (const { topologyKey, counts, weight } of domains) {
    const sum = getOrInsert(sums, topologyKey, () => new Map<string, number>());
    for (const [value, count] of counts) sum.set(value, (sum.get(value) ?? 0) + weight * count);
  }
  return [...sums].map(([topologyKey, counts]) => ({ topologyKey, counts, weight: 1 }));
}

const NONE: readonly Domain[] = Object.freeze([]);

function domainsOf(terms: readonly PodTerm[], asked: PodQuery, { cluster }: World): Domain[] {
  const counts = cluster.count(asked);
  return terms.map(({ topologyKey }) => ({ topologyKey, counts: counts.in(topologyKey) }));
}

function query(term: PodTerm, world: World): PodQuery {
  const namespaces = namespacesOf(term, world);
  const { selector } = term;
  const where = namespaces ? [...namespaces].sort().join() : '*';
  return { key: `${where}\n${term.key}`, namespaces, matches: ({ labels }) => selector.matches(labels) };
}

function together(terms: readonly PodTerm[], world: World): PodQuery {
  const each = terms.map((term) => query(term, world));
  if (each.length === 1) return each[0]!;
  return {
    key: each.map(({ key }) => key).join('\n\n'),
    namespaces: undefined,
    matches: (pod) =>
      each.every(({ namespaces, matches }) => (!namespaces || namespaces.has(pod.namespace)) && matches(pod)),
  };
}

/** Returns namespaces; undefined for all of them. */
function namespacesOf({ namespaces, namespaceSelector }: PodTerm, world: World): ReadonlySet<string> | undefined {
  if (!namespaceSelector) return namespaces;
  if (namespaceSelector.empty) return undefined;
  const further = world.namespaces().filter(({ metadata }) => namespaceSelector.matches(metadata.labels));
  return new Set([...namespaces, ...further.map(({ metadata }) => metadata.name ?? '')]);
}

function matchesAll(terms: readonly PodTerm[], pod: PodInfo, world: World): boolean {
  const labels = world.namespaceLabels(pod.namespace);
  return terms.every((term) => matchesTerm(term, pod, labels));
}
