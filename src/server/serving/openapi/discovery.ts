import type { ObjectSchema } from '../../../schema/schema.ts';
import { APIGroup, APIGroupList, APIResourceList, APIVersions } from './discovery-shapes.ts';
import { definitionName, groupTag, META, operationInfix, operationTag } from './names.ts';
import { type Endpoint, OBJECTS, rootOf } from './operations.ts';

/** Returns the paths of groups and of lists of groups. The core group has the name ''. */
export function groupEndpoints(groups: readonly string[]): Endpoint[] {
  const endpoints = groups.map((group) => {
    if (!group) return endpoint('/api/', APIVersions, { id: 'getCoreAPIVersions', tag: 'core' });
    const { tag, infix } = groupTag(group);
    return endpoint(`/apis/${group}/`, APIGroup, { id: `get${infix}APIGroup`, tag });
  });
  return [...endpoints, endpoint('/apis/', APIGroupList, { id: 'getAPIVersions', tag: 'apis' })];
}

/** Returns the path that lists the resources of a group and version. */
export function resourcesEndpoint(groupVersion: string): Endpoint {
  const id = `get${operationInfix(groupVersion)}APIResources`;
  return endpoint(`${rootOf(groupVersion)}/`, APIResourceList, { id, tag: operationTag(groupVersion) });
}

function endpoint(path: string, shape: ObjectSchema, names: { id: string; tag: string }): Endpoint {
  const operation = {
    ...names,
    method: 'get' as const,
    action: undefined,
    kind: undefined,
    description: `read the ${shape.name}`,
    parameters: [],
    body: undefined,
    code: 200 as const,
    answer: definitionName(META, shape.name),
    consumes: OBJECTS,
    produces: OBJECTS,
  };
  return { path, parameters: [], operations: [operation] };
}
