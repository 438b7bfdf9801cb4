/**
 * Prevents users from reading objects through a policy that they may not read directly: to name a kind of parameters
 * they need the permission to get all of its objects, and to name parameters the permission to get those objects.
 */

import type { User } from '../../../../api/user.ts';
import { deepEqual } from '../../../../base/json/tree.ts';
import { MutatingAdmissionPolicy } from '../../../../kinds/groups/extension/admissionregistration/policies/mutating-admission-policy.ts';
import { MutatingAdmissionPolicyBinding } from '../../../../kinds/groups/extension/admissionregistration/policies/mutating-admission-policy-binding.ts';
import type { ParamKind } from '../../../../kinds/groups/extension/admissionregistration/policies/params.ts';
import { ValidatingAdmissionPolicy } from '../../../../kinds/groups/extension/admissionregistration/policies/validating-admission-policy.ts';
import { ValidatingAdmissionPolicyBinding } from '../../../../kinds/groups/extension/admissionregistration/policies/validating-admission-policy-binding.ts';
import { type Kind, splitApiVersion } from '../../../../kinds/kind.ts';
import { forbidden } from '../../../../schema/field-error.ts';
import type { ResourceAttributes } from '../../../access/authz/authorizer.ts';
import { isMaster } from '../../../access/authz/union.ts';
import type { Access } from '../../../access/ports.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';
import { invalidObject } from '../../../objects/body/check.ts';
import type { Reader } from '../../../objects/ports.ts';
import { objectNamed } from '../../../objects/reads/lookup.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import type { Binding, Policy } from './registered.ts';

type Ports = Pick<Reader, 'cache' | 'registry'> & Pick<Access, 'authorizer'>;

const POLICIES: readonly unknown[] = [ValidatingAdmissionPolicy, MutatingAdmissionPolicy];
const POLICY_OF = new Map<unknown, Kind>([
  [ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicy],
  [MutatingAdmissionPolicyBinding, MutatingAdmissionPolicy],
]);

/** Always enabled. */
export const paramRights: AdmissionPlugin = {
  name: 'AdmissionPolicyParameters',

  handles(kind, operation, subresource) {
    const isWrite = (operation === 'CREATE' || operation === 'UPDATE') && !subresource;
    return isWrite && (POLICIES.includes(kind) || POLICY_OF.has(kind));
  },

  validate(core, request) {
    if (isMaster(request.user)) return undefined;
    return POLICIES.includes(request.kind) ? checkPolicy(core, request) : checkBinding(core, request);
  },
};

async function checkPolicy(core: Ports, request: AdmissionRequest): Promise<void> {
  const { paramKind } = (request.object as Policy).spec;
  if (!paramKind || deepEqual(paramKind, (request.old as Policy | undefined)?.spec.paramKind)) return;
  if (await mayRead(core, request.user, { ...resourceOf(core, paramKind), verb: 'get', name: '*', namespace: '*' }))
    return;
  const { kind, apiVersion } = paramKind;
  const of = `all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  throw rejected(request, 'spec.paramKind', `user ${shown(request.user)} must have "get" permission on ${of}`);
}

async function checkBinding(core: Ports, request: AdmissionRequest): Promise<void> {
  const { paramRef, policyName = '' } = (request.object as Binding).spec;
  const before = (request.old as Binding | undefined)?.spec;
  if (!paramRef || (deepEqual(paramRef, before?.paramRef) && policyName === before?.policyName)) return;
  const policy = objectNamed(core, POLICY_OF.get(request.kind)!, '', policyName) as Policy | undefined;
  const { name = '', namespace = '' } = paramRef;
  const verb = name ? 'get' : 'list';
  const resource = resourceOf(core, policy?.spec.paramKind);
  if (await mayRead(core, request.user, { ...resource, verb, name, namespace })) return;
  const who = `user ${shown(request.user)} does not have "${verb}" permission`;
  const why = policy
    ? `${who} on the object referenced by paramRef`
    : `unable to get policy ${policyName} to determine minimum required permissions and ${who} for all groups, versions and resources`;
  throw rejected(request, 'spec.paramRef', why);
}

/** An unknown kind could be any resource. */
function resourceOf(core: Ports, paramKind: ParamKind | undefined) {
  if (!paramKind?.apiVersion) return { group: '*', version: '*', resource: '*' };
  const [group, version] = splitApiVersion(paramKind.apiVersion);
  const served = core.registry.resourcesOf(paramKind.apiVersion).find(({ kind }) => kind.kind === paramKind.kind);
  return { group, version, resource: served?.kind.plural ?? '*' };
}

type Question = Omit<ResourceAttributes, 'user' | 'subresource'>;

async function mayRead(core: Ports, user: User, question: Question): Promise<boolean> {
  return (await core.authorizer.authorize({ user, subresource: '', ...question })).verdict === 'allow';
}

/** Formats a user as Go prints it. */
const shown = ({ name, uid = '', groups }: User) => `&{${name} ${uid} [${groups.join(' ')}] map[]}`;

function rejected({ kind, name }: AdmissionRequest, field: string, why: string) {
  return invalidObject({ group: kind.group, kind: kind.kind }, name, [forbidden(field, why)]);
}
