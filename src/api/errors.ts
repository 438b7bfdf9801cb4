/** The error table: every way to fail, with its code and whether to retry. Clients decide by `reason`: a closed set. */
export const reasons = {
  BadRequest: { code: 400, retryable: false },
  Unauthorized: { code: 401, retryable: false },
  Forbidden: { code: 403, retryable: false },
  NotFound: { code: 404, retryable: false },
  MethodNotAllowed: { code: 405, retryable: false },
  NotAcceptable: { code: 406, retryable: false },
  AlreadyExists: { code: 409, retryable: false },
  Conflict: { code: 409, retryable: true },
  Gone: { code: 410, retryable: false },
  Expired: { code: 410, retryable: false },
  RequestEntityTooLarge: { code: 413, retryable: false },
  UnsupportedMediaType: { code: 415, retryable: false },
  Invalid: { code: 422, retryable: false },
  TooManyRequests: { code: 429, retryable: true },
  InternalError: { code: 500, retryable: false },
  /** A failure without a reason in Kubernetes: its Status leaves the reason out. */
  Unknown: { code: 500, retryable: false },
  ServiceUnavailable: { code: 503, retryable: true },
  ServerTimeout: { code: 500, retryable: true },
  StorageReadError: { code: 500, retryable: false },
  Timeout: { code: 504, retryable: true },
} as const satisfies Record<string, { code: number; retryable: boolean }>;

export type Reason = keyof typeof reasons;

interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The object that the API returns for failures, and for some successes. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: { readonly continue?: string; readonly resourceVersion?: string };
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code: number;
}

export interface ApiErrorOptions {
  readonly details?: StatusDetails;
  readonly metadata?: Status['metadata'];
  readonly cause?: unknown;
}

/** A failure as the API reports it. May be thrown anywhere in the server. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly reason: Reason;
  readonly details: StatusDetails | undefined;
  readonly metadata: Status['metadata'];

  constructor(reason: Reason, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    // Errors thrown by plain JavaScript are not type-checked, and error handlers rely on the table.
    this.reason = Object.hasOwn(reasons, reason) ? reason : 'Unknown';
    this.details = options.details;
    this.metadata = options.metadata ?? {};
  }

  get code(): number {
    return reasons[this.reason].code;
  }

  get retryable(): boolean {
    return reasons[this.reason].retryable;
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
      reason: this.reason === 'Unknown' ? undefined : this.reason,
      details: this.details,
      code: this.code,
    };
  }
}

export function isApiError(error: unknown, ...anyOf: Reason[]): error is ApiError {
  return error instanceof ApiError && (anyOf.length === 0 || anyOf.includes(error.reason));
}

/** Reports whether another writer was faster: the current state shows what is left to do. */
export function isLostRace(error: unknown): boolean {
  return isApiError(error, 'Conflict', 'AlreadyExists', 'NotFound');
}

/** The resource of an error: `deployments` of group `apps` prints as `deployments.apps`. */
export interface ResourceName {
  readonly group: string;
  readonly plural: string;
}

export function qualified(group: string, word: string): string {
  return group ? `${word}.${group}` : word;
}

function detailsOf({ group, plural }: ResourceName, name: string): StatusDetails {
  return { name: name || undefined, group: group || undefined, kind: plural };
}

export const badRequest = (message: string, cause?: unknown) => new ApiError('BadRequest', message, { cause });

export const notFound = (resource: ResourceName, name: string) =>
  new ApiError('NotFound', `${qualified(resource.group, resource.plural)} "${name}" not found`, {
    details: detailsOf(resource, name),
  });

export const alreadyExists = (resource: ResourceName, name: string) =>
  new ApiError('AlreadyExists', `${qualified(resource.group, resource.plural)} "${name}" already exists`, {
    details: detailsOf(resource, name),
  });

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

export const conflict = (resource: ResourceName, name: string, why: string = MODIFIED) =>
  new ApiError(
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(resource.group, resource.plural)} "${name}": ${why}`,
    { details: detailsOf(resource, name) },
  );

export const forbidden = (resource: ResourceName, name: string, why: string) =>
  new ApiError(
    'Forbidden',
    name
      ? `${qualified(resource.group, resource.plural)} "${name}" is forbidden: ${why}`
      : `${qualified(resource.group, resource.plural)} is forbidden: ${why}`,
    { details: detailsOf(resource, name) },
  );

/** The path itself is unknown, as opposed to the object at it. */
export const noSuchPath = () =>
  new ApiError('NotFound', 'the server could not find the requested resource', { details: {} });

export const methodNotAllowed = () =>
  new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource', { details: {} });

/** A watch or a read at a version needs history that was discarded. Clients list again. */
export const tooOld = (asked: number, oldest: number) =>
  new ApiError('Expired', `too old resource version: ${asked} (${oldest})`);
