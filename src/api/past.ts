/**
 * The part of the API that reads the past, below `/history`: paths of objects and lists behind it are those of the API itself.
 *
 *     GET /history/apis/apps/v1/namespaces/NS/deployments?at=TIME        the list as it was
 *     GET /history/apis/apps/v1/namespaces/NS/deployments/NAME?at=TIME   the object as it was
 *
 * Without `at`, the answer is a ChangeList: the changes of the objects, newest first.
 */
import type { KubeObject } from '../kinds/kind.ts';
import type { ParameterValues, QueryParameters } from './parameters.ts';

export const HISTORY_PATH = '/history';

const TIME = 'A time such as 2030-01-01T12:00:00Z, or a resourceVersion.';

/** Query parameters in addition to those of lists. */
export const pastParameters = {
  at: { type: 'string', description: `Return objects as they were. ${TIME}` },
  since: { type: 'string', description: `Return only changes after this. ${TIME}` },
  until: { type: 'string', description: `Return only changes up to this. ${TIME}` },
  user: { type: 'string', description: 'Return only changes by this user.' },
  status: { type: 'boolean', description: 'False to leave out changes of nothing but the status.' },
} as const satisfies QueryParameters;

export type PastParameters = ParameterValues<typeof pastParameters>;

export type ChangeType = 'created' | 'updated' | 'deleted';

/** One change of one object. */
export interface ObjectChange {
  readonly time: string;
  readonly resourceVersion: string;
  readonly type: ChangeType;
  /** Undefined when nobody said who wrote. */
  readonly user?: string | undefined;
  /** User agent. */
  readonly client?: string | undefined;
  readonly fieldManager?: string | undefined;
  /** The ID of the request, which the audit log has, too. */
  readonly requestID?: string | undefined;
  /** True for a change of nothing but the status. */
  readonly status?: boolean | undefined;
  /** The object that was changed. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  /** The object after the change; undefined when it was deleted, or when the request is for many objects. */
  readonly object?: KubeObject | undefined;
  /** The object before the change: only of the last change of a page, where no other shows it. */
  readonly before?: KubeObject | undefined;
}

export interface ChangeList {
  readonly kind: 'ChangeList';
  readonly apiVersion: 'v1';
  readonly metadata: {
    /** The newest version whose change could be in the list. */
    readonly resourceVersion: string;
    readonly continue?: string | undefined;
  };
  readonly items: readonly ObjectChange[];
}
