/** `authorizer.group('apps').resource('deployments').check('create').allowed()`: asks for the rights of a user. */
import { LIST_COST, OBJECT_COST, STRING_TRAVERSAL_FACTOR, traversalCost } from '../cel/cost/constants.ts';
import { addRanges, exactly, scaleRange } from '../cel/cost/range.ts';
import { member } from '../cel/libraries/declare.ts';
import type { Library, Overload } from '../cel/library.ts';
import { BOOL, opaqueType, STRING, type Type } from '../cel/types/type.ts';
import { fail } from '../cel/values/failure.ts';
import { costSizeOf } from '../cel/values/size.ts';
import { OpaqueValue } from '../cel/values/value.ts';
import { dnsLabel, dnsSubdomain } from '../schema/names.ts';
import { NOMINAL, nodesOf } from './costs.ts';

export interface AuthorizationUser {
  readonly name: string;
  readonly groups?: readonly string[];
}

/** A question about a path, or about a resource. */
type AuthorizationQuestion =
  | { readonly verb: string; readonly path: string }
  | ({ readonly verb: string } & ResourceQuestion);

interface ResourceQuestion {
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason?: string;
  readonly error?: string;
}

/** `user` is undefined for the user of the request, and a service account otherwise. */
export type Authorize = (question: AuthorizationQuestion, user: AuthorizationUser | undefined) => AuthorizationAnswer;

export const AUTHORIZER_TYPE = opaqueType('kubernetes.authorization.Authorizer');
const PATH_TYPE = opaqueType('kubernetes.authorization.PathCheck');
const GROUP_TYPE = opaqueType('kubernetes.authorization.GroupCheck');
const RESOURCE_CHECK_TYPE = opaqueType('kubernetes.authorization.ResourceCheck');
const DECISION_TYPE = opaqueType('kubernetes.authorization.Decision');

/** Value that only functions look into; it is equal to itself alone. */
abstract class Part extends OpaqueValue {
  equals(other: this): boolean {
    return this === other;
  }
}

/** The value of the variable `authorizer`. */
export class AuthorizerValue extends Part {
  readonly type = AUTHORIZER_TYPE;

  constructor(
    readonly authorize: Authorize,
    readonly user?: AuthorizationUser,
  ) {
    super();
  }

  /** The value of `authorizer.requestResource`. */
  check(question: ResourceQuestion): OpaqueValue {
    return new ResourceCheck(this, question);
  }
}

class PathCheck extends Part {
  readonly type = PATH_TYPE;

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly path: string,
  ) {
    super();
  }
}

class GroupCheck extends Part {
  readonly type = GROUP_TYPE;

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly group: string,
  ) {
    super();
  }
}

class ResourceCheck extends Part {
  readonly type = RESOURCE_CHECK_TYPE;

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly question: ResourceQuestion,
  ) {
    super();
  }

  with(change: Partial<ResourceQuestion>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.question, ...change });
  }
}

class DecisionValue extends Part {
  readonly type = DECISION_TYPE;

  constructor(readonly answer: AuthorizationAnswer) {
    super();
  }
}

function ask({ authorize, user }: AuthorizerValue, question: AuthorizationQuestion): DecisionValue {
  return new DecisionValue(authorize(question, user));
}

function serviceAccount({ authorize }: AuthorizerValue, namespace: string, name: string): AuthorizerValue {
  if (dnsSubdomain(name).length > 0) return fail('Invalid service account name');
  if (dnsLabel(namespace).length > 0) return fail('Invalid service account namespace');
  return new AuthorizerValue(authorize, {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  });
}

/** Cost of a check: two fit into one expression. */
const CHECK_COST = 350_000;
const CHECKING: Pick<Overload, 'costBefore' | 'estimate'> = {
  costBefore: () => CHECK_COST,
  estimate: () => ({ cost: exactly(CHECK_COST) }),
};

/** A requirement has at least two characters. */
const REQUIREMENTS_PER_CHARACTER = 0.5;
const REQUIREMENT_COST = LIST_COST + OBJECT_COST;

const SELECTING: Pick<Overload, 'costBefore' | 'estimate'> = {
  costBefore: ([, selector]) => {
    const size = costSizeOf(selector!);
    return LIST_COST + traversalCost(size) + Math.ceil(size * REQUIREMENTS_PER_CHARACTER) * REQUIREMENT_COST;
  },
  estimate: (call) => {
    const size = call.sizeOf(nodesOf(call)[1]!);
    const requirements = scaleRange(scaleRange(size, REQUIREMENTS_PER_CHARACTER), REQUIREMENT_COST);
    return { cost: addRanges(exactly(LIST_COST), addRanges(scaleRange(size, STRING_TRAVERSAL_FACTOR), requirements)) };
  },
};

const one = (name: string, overload: Overload) => ({ name, overloads: [overload] });

const narrowing = (field: keyof ResourceQuestion, id: string, costs = NOMINAL) =>
  one(
    field,
    member(
      id,
      [RESOURCE_CHECK_TYPE, STRING],
      RESOURCE_CHECK_TYPE,
      (check: ResourceCheck, value: string) => check.with({ [field]: value }),
      costs,
    ),
  );

const answered = (name: string, type: Type, read: (answer: AuthorizationAnswer) => boolean | string) =>
  one(
    name,
    member(`decision_${name}`, [DECISION_TYPE], type, ({ answer }: DecisionValue) => read(answer), NOMINAL),
  );

export const AUTHORIZER_LIBRARY: Library = {
  name: 'kubernetes.authz',
  types: [AUTHORIZER_TYPE, PATH_TYPE, GROUP_TYPE, RESOURCE_CHECK_TYPE, DECISION_TYPE],
  functions: [
    one(
      'path',
      member(
        'authorizer_path',
        [AUTHORIZER_TYPE, STRING],
        PATH_TYPE,
        (authorizer, path) => (path.trim() ? new PathCheck(authorizer, path) : fail('path must not be empty')),
        NOMINAL,
      ),
    ),
    one(
      'group',
      member(
        'authorizer_group',
        [AUTHORIZER_TYPE, STRING],
        GROUP_TYPE,
        (authorizer, group) => new GroupCheck(authorizer, group),
        NOMINAL,
      ),
    ),
    one(
      'serviceAccount',
      member('authorizer_serviceaccount', [AUTHORIZER_TYPE, STRING, STRING], AUTHORIZER_TYPE, serviceAccount, NOMINAL),
    ),
    one(
      'resource',
      member(
        'groupcheck_resource',
        [GROUP_TYPE, STRING],
        RESOURCE_CHECK_TYPE,
        ({ authorizer, group }: GroupCheck, resource: string) =>
          resource.trim() ? new ResourceCheck(authorizer, { group, resource }) : fail('resource must not be empty'),
        NOMINAL,
      ),
    ),
    narrowing('subresource', 'resourcecheck_subresource'),
    narrowing('namespace', 'resourcecheck_namespace'),
    narrowing('name', 'resourcecheck_name'),
    narrowing('fieldSelector', 'authorizer_fieldselector', SELECTING),
    narrowing('labelSelector', 'authorizer_labelselector', SELECTING),
    {
      name: 'check',
      overloads: [
        member(
          'pathcheck_check',
          [PATH_TYPE, STRING],
          DECISION_TYPE,
          ({ authorizer, path }: PathCheck, verb: string) => ask(authorizer, { verb, path }),
          CHECKING,
        ),
        member(
          'resourcecheck_check',
          [RESOURCE_CHECK_TYPE, STRING],
          DECISION_TYPE,
          ({ authorizer, question }: ResourceCheck, verb: string) => ask(authorizer, { verb, ...question }),
          CHECKING,
        ),
      ],
    },
    answered('errored', BOOL, ({ error }) => error !== undefined),
    answered('error', STRING, ({ error = '' }) => error),
    answered('allowed', BOOL, ({ allowed }) => allowed),
    answered('reason', STRING, ({ reason = '' }) => reason),
  ],
};
