/** Pod with derived data for scheduling, each computed once, on first use. */
import { memoized } from '../../base/collections/memoized.ts';
import { deepEqual } from '../../base/json/tree.ts';
import { type HostPort, hostPortsOf, sharedPortsOf } from '../../kinds/placement/host-ports.ts';
import type { NodeTest } from '../../kinds/placement/node-selector.ts';
import { namedNodes, requiredNodes } from '../../kinds/placement/required-nodes.ts';
import { type Labels, NO_LABELS, type Pod } from '../objects.ts';
import { type PodTerm, preferredTerms, requiredTerms, type WeightedTerm } from './pod-terms.ts';
import { type Requests, requestsOf, sameRequests } from './resources.ts';
import { MAX_SELECTION, selectionOf } from './selection.ts';

interface Terms {
  readonly required: readonly PodTerm[];
  readonly requiredAnti: readonly PodTerm[];
  readonly preferred: readonly WeightedTerm[];
  readonly preferredAnti: readonly WeightedTerm[];
}

const NO_TERMS: Terms = Object.freeze({ required: [], requiredAnti: [], preferred: [], preferredAnti: [] });
const NO_NAMES: readonly string[] = Object.freeze([]);

export class PodInfo {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly labels: Labels;
  readonly priority: number;
  #requests: Requests | undefined;
  #terms: Terms | undefined;
  #ports: readonly HostPort[] | undefined;
  #sharedPorts: readonly HostPort[] | undefined;
  #claims: readonly string[] | undefined;
  #places: NodeTest | null | undefined;
  #named: ReadonlySet<string> | null | undefined;

  /** Returns the same value for every use of an object: an event is compared with all waiting pods. */
  static readonly of = memoized((pod: Pod): PodInfo => new PodInfo(pod));

  constructor(readonly pod: Pod) {
    const { uid = '', name = '', namespace = '', labels } = pod.metadata;
    this.uid = uid;
    this.name = name;
    this.namespace = namespace;
    this.labels = labels ?? NO_LABELS;
    this.priority = pod.spec.priority ?? 0;
  }

  get requests(): Requests {
    this.#requests ??= requestsOf(this.pod);
    return this.#requests;
  }

  get terms(): Terms {
    this.#terms ??= termsOf(this.pod);
    return this.#terms;
  }

  get hostPorts(): readonly HostPort[] {
    this.#ports ??= hostPortsOf(this.pod);
    return this.#ports;
  }

  /** The ports that it takes on a node whose pods share its network. */
  get sharedPorts(): readonly HostPort[] {
    this.#sharedPorts ??= sharedPortsOf(this.pod);
    return this.#sharedPorts;
  }

  /** Names of the claims of its volumes, including those of ephemeral volumes. */
  get claims(): readonly string[] {
    this.#claims ??= claimsOf(this.pod);
    return this.#claims;
  }

  /** Nodes that its node selector and required affinity allow; undefined: all. */
  get places(): NodeTest | undefined {
    if (this.#places === undefined) this.#places = requiredNodes(this.pod.spec) ?? null;
    return this.#places ?? undefined;
  }

  /** The only nodes that its affinity names, if it names any. */
  get named(): ReadonlySet<string> | undefined {
    if (this.#named === undefined) this.#named = namedNodes(this.pod.spec) ?? null;
    return this.#named ?? undefined;
  }

  get isLeaving(): boolean {
    return this.pod.metadata.deletionTimestamp !== undefined;
  }

  /** Reports whether it counts like an earlier state of the same pod. Everything else is fixed with the node. */
  countsLike(earlier: PodInfo): boolean {
    return (
      this.isLeaving === earlier.isLeaving &&
      deepEqual(this.labels, earlier.labels) &&
      sameRequests(this.requests, earlier.requests)
    );
  }
}

function termsOf(pod: Pod): Terms {
  const { spec, metadata } = pod;
  const { namespace = '' } = metadata;
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  if (!podAffinity && !podAntiAffinity) return NO_TERMS;
  // A client may bind a pod with thousands of terms: they are ignored.
  if (selectionOf(pod) > MAX_SELECTION) return NO_TERMS;
  return {
    required: requiredTerms(podAffinity, namespace),
    requiredAnti: requiredTerms(podAntiAffinity, namespace),
    preferred: preferredTerms(podAffinity, namespace),
    preferredAnti: preferredTerms(podAntiAffinity, namespace),
  };
}

function claimsOf({ spec, metadata }: Pod): readonly string[] {
  const found = spec.volumes?.flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    return ephemeral ? [`${metadata.name}-${name}`] : [];
  });
  return found?.length ? found : NO_NAMES;
}
