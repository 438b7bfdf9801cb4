/** Objects as clients see them: they are shared, and nobody changes them. */
import type { CronJob } from '../kinds/groups/batch/cron-job.ts';
import type { Job } from '../kinds/groups/batch/job.ts';
import type { Lease } from '../kinds/groups/coordination/lease.ts';
import type { Node } from '../kinds/groups/core/node/node.ts';
import type { PersistentVolumeClaim } from '../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import type { Pod } from '../kinds/groups/core/pod/pod.ts';
import type { Endpoints } from '../kinds/groups/core/service/endpoints.ts';
import type { Service } from '../kinds/groups/core/service/service.ts';
import type { DeepReadonly } from './object-types.ts';

export type SeenPod = DeepReadonly<Pod>;
export type SeenNode = DeepReadonly<Node>;
export type SeenService = DeepReadonly<Service>;
export type SeenEndpoints = DeepReadonly<Endpoints>;
export type SeenClaim = DeepReadonly<PersistentVolumeClaim>;
export type SeenLease = DeepReadonly<Lease>;
export type SeenJob = DeepReadonly<Job>;
export type SeenCronJob = DeepReadonly<CronJob>;
