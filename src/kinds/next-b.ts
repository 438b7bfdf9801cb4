import { ControllerRevision } from './apps/controller-revision.ts';
import { StatefulSet } from './apps/stateful-set.ts';
import { SelfSubjectReview } from './authentication/self-subject-review.ts';
import { TokenReview } from './authentication/token-review.ts';
import { LocalSubjectAccessReview } from './authorization/local-subject-access-review.ts';
import { SelfSubjectAccessReview } from './authorization/self-subject-access-review.ts';
import { SelfSubjectRulesReview } from './authorization/self-subject-rules-review.ts';
import { SubjectAccessReview } from './authorization/subject-access-review.ts';
import { ComponentStatus } from './core/component-status.ts';
import { LimitRange } from './core/limit-range.ts';
import { PodTemplate } from './core/pod-template.ts';
import { ResourceQuota } from './core/resource-quota.ts';
import type { Kind } from './kind.ts';
import { PodDisruptionBudget } from './policy/pod-disruption-budget.ts';
import { DeviceClass } from './resource/device-class.ts';
import { ResourceClaim } from './resource/resource-claim.ts';
import { ResourceClaimTemplate } from './resource/resource-claim-template.ts';
import { ResourceSlice } from './resource/resource-slice.ts';

/** Kinds that are described and wait for their place in the one list. */
export const nextKindsB: readonly Kind[] = [
  ComponentStatus,
  LimitRange,
  PodTemplate,
  ResourceQuota,
  ControllerRevision,
  StatefulSet,
  PodDisruptionBudget,
  SelfSubjectReview,
  TokenReview,
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  DeviceClass,
  ResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
];
