/** Attacks in the order in which they run; random requests come last. */
import type { Attack } from './attack.ts';
import { longPaths, longReviewGroups, longSelectors } from './attacks/access-reviews.ts';
import { largeCertificates } from './attacks/certificates.ts';
import { bigRole, oddRoleNames } from './attacks/escalation.ts';
import { controlFrames, largeHeaders, rapidResets, unreadStreams } from './attacks/http2-floods.ts';
import { hugeGracePeriod, hugeStatefulSet } from './attacks/huge-numbers.ts';
import { insertAtFront } from './attacks/json-patch.ts';
import { largeBodies, largeLists } from './attacks/large-bodies.ts';
import { longLists } from './attacks/long-lists.ts';
import { duplicateKeys, longTexts, quotaScopes } from './attacks/long-texts.ts';
import {
  longPatterns,
  manyAlternatives,
  manyAnnotations,
  manyAttributes,
  manyPeers,
  manyWatches,
} from './attacks/long-work.ts';
import { managedFields } from './attacks/managed-fields.ts';
import { manyContainers } from './attacks/many-containers.ts';
import { pipelining } from './attacks/pipelining.ts';
import { hostilePolicies } from './attacks/policies.ts';
import { randomRequests } from './attacks/random-requests.ts';
import { hostileRules } from './attacks/rules.ts';
import { hostileSchemas } from './attacks/schemas.ts';
import { servicePorts } from './attacks/service-ports.ts';
import { unfinishedBodies, unfinishedHeaders, unreadLists } from './attacks/slow-clients.ts';
import { stalledWatches } from './attacks/stalled-watches.ts';
import { repeatedMergeKeys } from './attacks/strategic-merge.ts';
import { hostileWebhooks } from './attacks/webhooks.ts';
import { largestWorkloads, listsTimesLists, simulationAnnotations } from './attacks/workloads.ts';
import { largeYaml } from './attacks/yaml.ts';

export const attacks: readonly Attack[] = [
  hugeStatefulSet,
  hugeGracePeriod,
  largestWorkloads,
  simulationAnnotations,
  listsTimesLists,
  servicePorts,
  longPaths,
  longSelectors,
  longReviewGroups,
  hostileRules,
  hostilePolicies,
  hostileSchemas,
  hostileWebhooks,
  bigRole,
  oddRoleNames,
  longLists,
  longTexts,
  duplicateKeys,
  quotaScopes,
  manyContainers,
  insertAtFront,
  manyAnnotations,
  manyAttributes,
  manyPeers,
  longPatterns,
  manyAlternatives,
  manyWatches,
  repeatedMergeKeys,
  managedFields,
  pipelining,
  stalledWatches,
  unreadLists,
  unfinishedBodies,
  unfinishedHeaders,
  unreadStreams,
  rapidResets,
  controlFrames,
  largeHeaders,
  largeBodies,
  largeYaml,
  largeCertificates,
  largeLists,
];

export { randomRequests };
