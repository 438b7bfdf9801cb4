import { ApiError, badRequest, conflict, isApiError } from '../../../api/errors.ts';
import type { ObjectReply } from '../../../api/reply.ts';
import { clone, isTree, type Tree } from '../../../base/json/tree.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { type KubeObject, splitApiVersion } from '../../../kinds/kind.ts';
import { decode } from '../../../schema/decode/decode.ts';
import { checkFields, errorText } from '../../../schema/fields/check.ts';
import { zeroObject } from '../../../schema/fields/zero.ts';
import type { Access } from '../../access/ports.ts';
import { cannotHandle } from '../../objects/body/body.ts';
import { REDACTED, reportConfigurationFaults } from '../../objects/body/field-validation.ts';
import { type MaybeAsync, toHub } from '../../objects/conversion/convert.ts';
import { applyConfiguration } from '../../objects/managed-fields/apply.ts';
import {
  checkApplicable,
  listManagers,
  type Managers,
  NO_MANAGERS,
  readManagers,
} from '../../objects/managed-fields/managers.ts';
import { ownableFields } from '../../objects/managed-fields/reset-fields.ts';
import { type ApiRequest, updatedPart } from '../../objects/registry/registry.ts';
import { checkName } from '../../objects/transaction/mutations/update.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { type TransactionResult, transact } from '../../objects/transaction/transaction.ts';
import { checkMay } from './create.ts';
import { replyOf } from './reply.ts';

type Ports = TransactionPorts & Pick<Access, 'authorizer'>;

/** Applies a configuration to an object, which is created if it does not exist. */
export async function apply(core: Ports, request: ApiRequest): Promise<ObjectReply> {
  const config = configurationOf(request);
  reportConfigurationFaults(request);
  return replyOf(request.resource, await applyTo(core, request, config));
}

/** Attempts when the object was created or deleted concurrently. */
const MAX_ATTEMPTS = 5;

export async function applyTo(core: Ports, request: ApiRequest, config: Tree): Promise<TransactionResult> {
  for (let attempt = 1; ; attempt++) {
    await core.cache.fresh();
    const creates = !request.call.subresource && !exists(core, request);
    try {
      return await (creates ? create(core, request, config) : update(core, request, config));
    } catch (error) {
      if (attempt >= MAX_ATTEMPTS || request.call.subresource) throw error;
      if (!isApiError(error, creates ? 'AlreadyExists' : 'NotFound') || exists(core, request) !== creates) throw error;
    }
  }
}

function exists(core: Ports, { resource, call }: ApiRequest): boolean {
  return core.cache.table(resource.kind).get(call.namespace ?? '', call.name ?? '') !== undefined;
}

async function create(core: Ports, request: ApiRequest, config: Tree): Promise<TransactionResult> {
  const { resource } = request;
  await checkMay('create', core, request);
  checkNew(request, config);
  const object = () => {
    // The transaction takes ownership of the created object and completes it; the zero object is shared.
    const live = clone(zeroObject(resource.version.schema));
    return applied(core, request, { config, live, managers: NO_MANAGERS });
  };
  return transact(core, request, { type: 'create', object, isApplied: true });
}

/** Throws when the configuration requires an existing object. */
function checkNew({ resource, call }: ApiRequest, { metadata }: Tree): void {
  const { uid, name } = (metadata ?? {}) as Partial<KubeObject['metadata']>;
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(resource.kind, call.name ?? '', why);
  }
  checkName({ metadata: { name } }, call.name);
}

function update(core: Ports, request: ApiRequest, config: Tree): Promise<TransactionResult> {
  const { resource } = request;
  return transact(core, request, {
    type: 'update',
    part: updatedPart(request),
    isApplied: true,
    next: (current) => {
      const { object } = current.view(resource);
      const { managedFields, ...metadata } = object.metadata;
      const managers = readManagers(managedFields);
      if (!managers) throw badRequest('failed to decode managed fields');
      return applied(core, request, { config, live: { ...object, metadata }, managers });
    },
  });
}

interface Target {
  readonly config: Tree;
  /** The object in the version of the request, without managers. */
  readonly live: object;
  readonly managers: Managers;
}

/** Returns the object with the configuration, in the stored version. */
function applied(core: Ports, { resource, call }: ApiRequest, target: Target): MaybeAsync<KubeObject> {
  const { kind, version } = resource;
  const { fieldManager = '', force = false } = call.options ?? {};
  const subresource = call.subresource ?? '';
  const { tree, managers } = applyConfiguration({
    ...target,
    kind,
    version,
    manager: fieldManager,
    subresource,
    force,
    now: timestamp(core.clock.now()),
    ownable: (asked) => ownableFields(kind, asked, subresource),
  });
  const object = decoded(tree, resource, target.live);
  const entries = listManagers(managers);
  if (entries) object.metadata.managedFields = entries;
  return toHub(resource, object);
}

function decoded(tree: unknown, { kind, version }: ApiRequest['resource'], live: object): KubeObject {
  try {
    const from = version === kind.hub ? live : undefined;
    const object = decode(version.schema, tree, { from, replaced: () => live }) as KubeObject;
    object.metadata = { ...object.metadata };
    object.kind = kind.kind;
    object.apiVersion = version.apiVersion;
    return object;
  } catch (error) {
    throw cannotHandle(error, { kind: kind.kind, apiVersion: version.apiVersion }, tree);
  }
}

/** Parses the body of an apply: an object of the kind and version of the path that may omit any field. */
function configurationOf({ resource: { kind, version }, call }: ApiRequest): Tree {
  const { body } = call;
  if (!isTree(body)) throw badRequest('error decoding YAML: the body is not an object');
  checkType(body, kind.kind, version.apiVersion);
  if (isTree(body.metadata) && body.metadata.managedFields !== undefined && body.metadata.managedFields !== null) {
    throw badRequest('metadata.managedFields must be nil');
  }
  // Before each field is checked, which takes far longer and cannot pause.
  checkApplicable(version, body);
  const errors = checkFields(version.schema, body);
  if (errors.length === 0) return body;
  const { namespace = '', name = '' } = call;
  const what = `${namespace}/${name}; ${version.apiVersion}, Kind=${kind.kind}`;
  const shown = kind.confidential ? REDACTED : errorText(errors);
  throw new ApiError('Unknown', `failed to create typed patch object (${what}): ${shown}`);
}

function checkType(body: Tree, kind: string, apiVersion: string): void {
  const { kind: givenKind = '', apiVersion: givenVersion = '' } = body;
  if (givenKind === kind && givenVersion === apiVersion) return;
  if (givenKind !== kind || splitApiVersion(`${givenVersion}`)[0] !== splitApiVersion(apiVersion)[0]) {
    throw badRequest(`invalid object type: ${givenVersion}, Kind=${givenKind}`);
  }
  throw badRequest(
    `Incorrect version specified in apply patch. Specified patch version: ${givenVersion}, expected: ${apiVersion}`,
  );
}
