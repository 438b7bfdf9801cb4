import type { User } from '../../../api/user.ts';

/** The action that a request needs permission for. */
export type Attributes = ResourceAttributes | PathAttributes;

export interface ResourceAttributes {
  readonly path?: undefined;
  readonly user: User;
  /** A verb of the API, or one used only for authorization: `impersonate`, `bind`, `escalate`, `approve`. */
  readonly verb: string;
  /** The group in the request: a Deployment can be requested in `apps` or `extensions`. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** The subresource; empty for the object itself. */
  readonly subresource: string;
  /** The namespace; empty for cluster-scoped resources and for all namespaces. */
  readonly namespace: string;
  /** The name; empty for collections and for creates. */
  readonly name: string;
  readonly fieldSelector?: readonly SelectorRequirement[] | undefined;
  readonly labelSelector?: readonly SelectorRequirement[] | undefined;
}

interface PathAttributes {
  readonly path: string;
  readonly user: User;
  /** The HTTP method in lower case. */
  readonly verb: string;
}

/** A requirement of a selector, as in a SubjectAccessReview. */
export interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'noOpinion';
  /** The reason; may be empty. */
  readonly reason: string;
  readonly error?: string;
}

/** The rules of a user in a namespace, as a SelfSubjectRulesReview shows them. */
export interface Rules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** True when the user may have further rules. */
  readonly incomplete: boolean;
  readonly error?: string;
}

interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
}

interface NonResourceRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface Authorizer {
  /** Decides whether a request is allowed. Synchronous if possible, since it runs for every request. Never rejects. */
  authorize(attributes: Attributes): Decision | Promise<Decision>;
  rulesFor(user: User, namespace: string): Rules;
}

export const ALLOW: Decision = Object.freeze({ verdict: 'allow', reason: '' });
export const NO_OPINION: Decision = Object.freeze({ verdict: 'noOpinion', reason: '' });
export const NO_RULES: Rules = Object.freeze({ resourceRules: [], nonResourceRules: [], incomplete: false });
