/** Errors for stored bytes that cannot be shown as an object, in the format of Kubernetes. */
import { ApiError, qualified, type StatusDetails } from '../../../../api/errors.ts';
import type { Kind } from '../../../../kinds/kind.ts';
import type { ObjectKey } from '../keys.ts';

/** Limit for the unreadable objects named in the error of a list. */
const MAX_CAUSES = 100;

/** Kubernetes' number for this storage error. */
const CORRUPT_OBJECT = 7;

export class UnreadableObject extends ApiError {
  /** The message without the prefix of internal errors. */
  readonly text: string;

  constructor(
    readonly at: ObjectKey,
    revision: number,
    cause: unknown,
  ) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const text = `StorageError: corrupt object, Code: ${CORRUPT_OBJECT}, Key: ${at.key}, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=${revision}: ${reason}`;
    super('InternalError', `Internal error occurred: ${text}`, {
      cause,
      details: { causes: [{ message: text }] },
    });
    this.text = text;
  }
}

type Cause = NonNullable<StatusDetails['causes']>[number];

function causeOf({ text, at }: UnreadableObject): Cause {
  return { reason: 'UnexpectedServerResponse', message: text, field: at.key };
}

interface Readable {
  failure(kind: Kind): UnreadableObject | undefined;
}

/** Creates the error of a list with unreadable objects, naming those among `entries`. `first` is the first error. */
export function unreadableList(kind: Kind, entries: readonly Readable[], first: UnreadableObject): ApiError {
  const causes: Cause[] = [];
  for (const entry of entries) {
    const error = entry.failure(kind);
    if (!error) continue;
    if (causes.length === MAX_CAUSES) {
      causes.push({ reason: 'FieldValueTooMany', message: 'too many errors, the list is truncated' });
      break;
    }
    causes.push(causeOf(error));
  }
  const { group, plural } = kind;
  // In a list of a past state, the objects may have been repaired since.
  if (causes.length === 0) causes.push(causeOf(first));
  return new ApiError('StorageReadError', `failed to read one or more ${qualified(group, plural)} from the storage`, {
    cause: first,
    details: { name: 'list', ...(group ? { group } : {}), kind: plural, causes },
  });
}
