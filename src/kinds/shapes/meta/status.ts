import { s } from '../../../schema/builders.ts';

/** The form of a Status that objects can hold, such as in `metadata.initializers`. */
export const Status = s.object('Status', 'Outcome of a request that returns no object.', {
  kind: s.string('Always Status.'),
  apiVersion: s.string('API version of the status, usually v1.'),
  metadata: s.object('ListMeta', 'Metadata of a response that is not a stored object.', {
    selfLink: s.string('URL path of the request. Read-only.'),
    resourceVersion: s.string('Resource version of the response; empty when it belongs to no single version.'),
  }),
  status: s.string('Success or Failure.'),
  message: s.string('Description of the outcome for people.'),
  reason: s.string(
    'Machine-readable cause of a failure, such as NotFound. Several reasons can share one HTTP status code.',
  ),
  details: s.object('StatusDetails', 'Details of a failed request.', {
    name: s.string('Name of the object that the request was about.'),
    group: s.string('API group of the object that the request was about.'),
    kind: s.string('Resource (the plural, such as pods) or kind that the request was about.'),
    uid: s.string('UID of the object, where there is a single one.'),
    causes: s.list(
      s.object('StatusCause', 'One of the errors that made a request fail.', {
        reason: s.string('Machine-readable cause, such as FieldValueInvalid.'),
        message: s.string('Description of the error for people.'),
        field: s.string('Path of the field that caused the error, such as spec.containers[0].image.'),
      }),
      'Individual errors that made the request fail, such as one for each invalid field.',
    ),
    retryAfterSeconds: s.int32('Seconds after which the client should retry the request.'),
  }),
  code: s.int32('HTTP status code of the response.'),
});
