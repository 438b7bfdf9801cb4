import { s } from '../../../schema/builders.ts';

/** The answer of an operation, as an object can carry it. */
export const Status = s.object('Status', {
  kind: s.string(),
  apiVersion: s.string(),
  metadata: s.object('ListMeta', { selfLink: s.string(), resourceVersion: s.string() }),
  status: s.string({ description: 'Success or Failure.' }),
  message: s.string(),
  reason: s.string(),
  details: s.object('StatusDetails', {
    name: s.string(),
    group: s.string(),
    kind: s.string(),
    uid: s.string(),
    causes: s.list(s.object('StatusCause', { reason: s.string(), message: s.string(), field: s.string() })),
    retryAfterSeconds: s.int32(),
  }),
  code: s.int32(),
});
