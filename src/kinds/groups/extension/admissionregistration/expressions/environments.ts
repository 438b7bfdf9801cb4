/** Variables and functions available to the expressions of webhooks and policies. */
import { getOrInsert } from '../../../../../base/collections/get-or-insert.ts';
import type { Environment } from '../../../../../cel/environment.ts';
import { DYN, type Type } from '../../../../../cel/types/type.ts';
import { AUTHORIZER_TYPE } from '../../../../../cel-kubernetes/authorizer.ts';
import { kubernetesEnvironment } from '../../../../../cel-kubernetes/environment.ts';
import { jsonPatchLibrary, patchTypeNamed } from './patch-types.ts';
import { AdmissionRequestType, NamespaceType } from './types.ts';

const RESOURCE_CHECK = 'kubernetes.authorization.ResourceCheck';

export interface EnvironmentChoice {
  /** True when `params` is declared. */
  readonly hasParams: boolean;
  /** True when `authorizer` is declared. */
  readonly hasAuthorizer: boolean;
  /** True when `Object{…}` and `JSONPatch{…}` can be constructed. */
  readonly hasPatches?: boolean;
}

/** The types of objects, where they are known. */
export interface TypeChoice {
  readonly object?: Type | undefined;
  readonly params?: Type | undefined;
}

const known = new Map<string, Environment>();

/** The environment of an expression. Without types, objects have any fields. */
export function admissionEnvironment(choice: EnvironmentChoice, types: TypeChoice = {}): Environment {
  if (types.object || types.params) return build(choice, types);
  const key = `${choice.hasParams}/${choice.hasAuthorizer}/${choice.hasPatches ?? false}`;
  return getOrInsert(known, key, () => build(choice, types));
}

function build({ hasParams, hasAuthorizer, hasPatches }: EnvironmentChoice, types: TypeChoice): Environment {
  const { object = DYN, params = DYN } = types;
  const base = kubernetesEnvironment();
  const authorizer = { authorizer: AUTHORIZER_TYPE, 'authorizer.requestResource': base.type(RESOURCE_CHECK)! };
  return base.extend({
    variables: {
      object,
      oldObject: object,
      request: AdmissionRequestType,
      namespaceObject: NamespaceType,
      ...(hasParams ? { params } : {}),
      ...(hasAuthorizer ? authorizer : {}),
    },
    ...(hasPatches ? { libraries: [jsonPatchLibrary], typeOf: patchTypeNamed } : {}),
  });
}
