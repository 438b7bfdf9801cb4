import { admissionregistration } from './admissionregistration.ts';
import { apiextensions } from './apiextensions.ts';
import { apiregistration } from './apiregistration.ts';
import { apps } from './apps.ts';
import { authentication } from './authentication.ts';
import { authorization } from './authorization.ts';
import { autoscaling } from './autoscaling.ts';
import { batch } from './batch.ts';
import { certificates } from './certificates.ts';
import { coordination } from './coordination.ts';
import { core } from './core.ts';
import { discovery } from './discovery.ts';
import { events } from './events.ts';
import type { FieldNumbers } from './field-numbers.ts';
import { flowcontrol } from './flowcontrol.ts';
import { meta } from './meta.ts';
import { networking } from './networking.ts';
import { node } from './node.ts';
import { policy } from './policy.ts';
import { rbac } from './rbac.ts';
import { resource } from './resource.ts';
import { scheduling } from './scheduling.ts';
import { storage } from './storage.ts';
import { storagemigration } from './storagemigration.ts';

const all: FieldNumbers = {
  ...admissionregistration,
  ...apiextensions,
  ...apiregistration,
  ...apps,
  ...authentication,
  ...authorization,
  ...autoscaling,
  ...batch,
  ...certificates,
  ...coordination,
  ...core,
  ...discovery,
  ...events,
  ...flowcontrol,
  ...meta,
  ...networking,
  ...node,
  ...policy,
  ...rbac,
  ...resource,
  ...scheduling,
  ...storage,
  ...storagemigration,
};

/** The numbered fields of a shape that belongs to a version (`apps/v1`, `meta/v1`), in the form of field-numbers.ts. */
export function fieldNumbers(home: string, shape: string): string | undefined {
  return all[home]?.[shape];
}
