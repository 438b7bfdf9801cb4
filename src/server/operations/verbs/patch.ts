import type { Call } from '../../../api/call.ts';
import { ApiError, badRequest } from '../../../api/errors.ts';
import type { ObjectReply } from '../../../api/reply.ts';
import { type DividedWork, inTurns, type Pace } from '../../../base/event-loop/in-turns.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { decode } from '../../../schema/decode/decode.ts';
import { jsonPatchInTurns } from '../../../schema/patch/json-patch.ts';
import { applyMergePatch } from '../../../schema/patch/merge-patch.ts';
import { PatchError } from '../../../schema/patch/patch-error.ts';
import { applyStrategicMergePatch } from '../../../schema/patch/strategic-merge.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';
import type { Access } from '../../access/ports.ts';
import { cannotHandle } from '../../objects/body/body.ts';
import { reportPatchFaults, validatesFields } from '../../objects/body/field-validation.ts';
import { type MaybeAsync, toHub, whenReady } from '../../objects/conversion/convert.ts';
import { type ApiRequest, updatedPart } from '../../objects/registry/registry.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { transact } from '../../objects/transaction/transaction.ts';
import { apply } from './apply.ts';
import { replyOf } from './reply.ts';

type Ports = TransactionPorts & Pick<Access, 'authorizer'>;

/** Changes fields of an object in the version of the call. Without a resourceVersion it never conflicts. */
export async function patch(core: Ports, request: ApiRequest): Promise<ObjectReply> {
  if (request.call.patchType === 'apply') return apply(core, request);
  const { resource } = request;
  const { kind, version } = resource;
  const outcome = await transact(core, request, {
    type: 'update',
    part: updatedPart(request),
    next: (current) => {
      const before = current.view(resource).object;
      return whenReady(applyPatch(core, request, { schema: version.schema, current: before }), (tree) => {
        checkType(tree, before);
        const object = decodePatched(tree, { schema: version.schema, before, request, shares: version === kind.hub });
        return toHub({ kind, version }, object);
      });
    },
  });
  return replyOf(resource, outcome);
}

interface Patched {
  readonly schema: ObjectSchema;
  readonly current: unknown;
}

/** Applies the patch of a call to a tree. Neither is changed. */
export function applyPatch({ turns }: Ports, { call, resource }: ApiRequest, patched: Patched): MaybeAsync<any> {
  return inTurns(turns, patchWork(patched, call, resource.kind.confidential === true, turns), call);
}

function* patchWork(
  { schema, current }: Patched,
  { body, patchType }: Call,
  isConfidential: boolean,
  pace: Pace,
): DividedWork<any> {
  if (body === undefined) throw badRequest('error decoding patch: unexpected end of JSON input');
  try {
    switch (patchType) {
      case 'json': {
        const tree = yield* jsonPatchInTurns(current, body, pace);
        // Decoding takes about the same time again.
        if (pace.isSpent()) yield;
        return tree;
      }
      case 'merge':
        return applyMergePatch(current, body);
      case 'strategic':
        return applyStrategicMergePatch(schema, current, body);
      default:
        throw new ApiError('UnsupportedMediaType', 'the body of the request was in an unknown format');
    }
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    // Kubernetes sends details with this error, even when they are empty.
    const details = error.reason === 'Invalid' ? { details: {} } : {};
    throw new ApiError(error.reason, isConfidential ? error.redacted : error.message, { cause: error, ...details });
  }
}

interface Patching {
  readonly schema: ObjectSchema;
  readonly before: KubeObject;
  readonly request: ApiRequest;
  /** True when `before` is in the stored version: unpatched parts are shared, neither decoded nor validated. */
  readonly shares?: boolean;
}

export function decodePatched(tree: any, { schema, before, request, shares = false }: Patching): KubeObject {
  try {
    const unknown: string[] | undefined = validatesFields(request) ? [] : undefined;
    const note = unknown && ((path: string) => void unknown.push(path));
    const from = shares ? before : undefined;
    const managers = shares ? takeKeptManagers(tree, before) : undefined;
    const object = decode(schema, tree, { from, unknown: note, replaced: () => before }) as KubeObject;
    if (managers) object.metadata.managedFields = managers;
    if (unknown) reportPatchFaults(request, unknown, { schema, before, tree, kind: request.resource.kind });
    if (object.metadata === before.metadata) object.metadata = { ...before.metadata };
    return object;
  } catch (error) {
    throw cannotHandle(error, before, before);
  }
}

/** Takes unpatched managers out of the result: decoding them would build the trees of their fields. */
function takeKeptManagers(tree: any, before: KubeObject): KubeObject['metadata']['managedFields'] {
  const { managedFields } = before.metadata;
  const metadata = tree.metadata;
  if (!managedFields || metadata === before.metadata || metadata?.managedFields !== managedFields) return undefined;
  tree.metadata = { ...metadata };
  // Decoding drops the undefined field. Deleting it would make the object slow.
  tree.metadata.managedFields = undefined;
  return managedFields;
}

/** Throws when a patch changes the type of the object. */
function checkType(tree: any, before: KubeObject): void {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) {
    throw badRequest('the patched object is not an object');
  }
  if ((tree.kind ?? before.kind) !== before.kind || (tree.apiVersion ?? before.apiVersion) !== before.apiVersion) {
    throw badRequest(
      `the patch changes the type of the object from ${before.apiVersion}, Kind=${before.kind} to ${tree.apiVersion}, Kind=${tree.kind}`,
    );
  }
  tree.kind ??= before.kind;
  tree.apiVersion ??= before.apiVersion;
}
