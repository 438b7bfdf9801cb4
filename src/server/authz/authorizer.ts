/**
 * Who may do what. An authorizer looks at what somebody wants to do and says yes, no, or nothing; a union asks several in
 * turn (union.ts). One folder a sort: rbac/ (roles and bindings in the store), node/ (what a node's own pods need),
 * webhook/ (somebody else decides). The HTTP front end asks before it reads a body; calls inside the process are trusted.
 * Who somebody is does not belong here (authn/), nor what a cluster says about the content of a write (admission/).
 */
import type { User } from '../api.ts';

/** What somebody wants to do. */
export type Attributes = ResourceAttributes | PathAttributes;

export interface ResourceAttributes {
  readonly path?: undefined;
  readonly user: User;
  /** A verb of the API, or a word that only rights know: `impersonate`, `bind`, `escalate`, `approve`. */
  readonly verb: string;
  /** As the request names it: a Deployment can be one of `apps` or of `extensions`. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** Empty for what lives in none, and for all namespaces together. */
  readonly namespace: string;
  /** Empty for all objects, and for one that is still to be named. */
  readonly name: string;
  readonly fieldSelector?: readonly SelectorRequirement[] | undefined;
  readonly labelSelector?: readonly SelectorRequirement[] | undefined;
}

interface PathAttributes {
  /** A path that is no object's. */
  readonly path: string;
  readonly user: User;
  /** The HTTP method in small letters. */
  readonly verb: string;
}

/** A part of a selector, as reviews spell it. */
export interface SelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface Decision {
  readonly verdict: 'allow' | 'deny' | 'noOpinion';
  /** Empty where there is nothing to say. */
  readonly reason: string;
  /** What went wrong on the way to the decision. */
  readonly error?: string;
}

/** What somebody may do in a namespace, for showing. */
export interface Rules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
  /** Whether there may be more. */
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
  /** Answers at once where it can: it runs for every request. Never rejects. */
  authorize(attributes: Attributes): Decision | Promise<Decision>;
  rulesFor(user: User, namespace: string): Rules;
}

export const ALLOW: Decision = Object.freeze({ verdict: 'allow', reason: '' });
export const NO_OPINION: Decision = Object.freeze({ verdict: 'noOpinion', reason: '' });
export const NO_RULES: Rules = Object.freeze({ resourceRules: [], nonResourceRules: [], incomplete: false });
