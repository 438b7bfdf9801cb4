import type { Call, Propagation } from '../../../api/call.ts';
import { DeleteOptions } from '../../../kinds/shapes/meta/delete-options.ts';
import { validate } from '../../../schema/validate.ts';
import type { Registry } from '../registry/registry.ts';
import { decodeBody } from './body.ts';
import { invalidObject } from './check.ts';

/** The options of a delete, combined from its body and its query. */
export interface DeletePlan {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagation: Propagation | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly dryRun: boolean;
  /** True to delete the object even if it cannot be read. */
  readonly ignoreReadError: boolean;
}

/** Reads the options of a delete: the body precedes the query, a dry run in either counts. Throws 422 if invalid. */
export function deletePlan(call: Pick<Call, 'apiVersion' | 'body' | 'options'>, registry: Registry): DeletePlan {
  const expected = { kind: 'DeleteOptions', apiVersion: 'v1', group: 'meta.k8s.io', schema: DeleteOptions };
  const { options = {} } = call;
  const sent: DeleteOptions = call.body === undefined ? {} : (readDeleteOptions(call.body) as DeleteOptions);
  const merged: DeleteOptions = {
    ...sent,
    gracePeriodSeconds: sent.gracePeriodSeconds ?? options.gracePeriodSeconds,
    orphanDependents: sent.orphanDependents ?? options.orphanDependents,
    propagationPolicy: sent.propagationPolicy ?? options.propagationPolicy,
    dryRun: sent.dryRun || options.dryRun ? [...(sent.dryRun ?? []), ...(options.dryRun ?? [])] : undefined,
  };
  const errors = validate(DeleteOptions, merged, {
    operation: 'create',
    old: undefined,
    subresource: undefined,
    apiVersion: call.apiVersion,
  });
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors);
  return {
    gracePeriodSeconds: merged.gracePeriodSeconds,
    propagation: propagationOf(merged),
    uid: merged.preconditions?.uid,
    resourceVersion: merged.preconditions?.resourceVersion,
    dryRun: (merged.dryRun?.length ?? 0) > 0,
    ignoreReadError: merged.ignoreStoreReadErrorWithClusterBreakingPotential ?? false,
  };

  function readDeleteOptions(body: unknown): unknown {
    // DeleteOptions are the same in every group and version, and clients may send any of them.
    const tree =
      typeof body === 'object' && body !== null && !Array.isArray(body) ? { ...body, apiVersion: 'v1' } : body;
    return decodeBody(expected, { call: { verb: 'delete', body: tree } }, registry);
  }
}

function propagationOf(options: DeleteOptions): Propagation | undefined {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? 'Orphan' : 'Background';
  return options.propagationPolicy as Propagation | undefined;
}
