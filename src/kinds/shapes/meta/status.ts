import { s } from '../../../schema/builders.ts';

/** The form of a Status that objects can hold, such as in `metadata.initializers`. */
export const Status = s.object(
  'Status',
  {
    kind: s.string({ description: 'Always Status.' }),
    apiVersion: s.string({ description: 'API version of the status, usually v1.' }),
    metadata: s.object(
      'ListMeta',
      {
        selfLink: s.string({ description: 'URL path of the request. Read-only.' }),
        resourceVersion: s.string({
          description: 'Resource version of the response; empty when it belongs to no single version.',
        }),
      },
      { description: 'Metadata of a response that is not a stored object.' },
    ),
    status: s.string({ description: 'Success or Failure.' }),
    message: s.string({ description: 'Description of the outcome for people.' }),
    reason: s.string({
      description:
        'Machine-readable cause of a failure, such as NotFound. Several reasons can share one HTTP status code.',
    }),
    details: s.object(
      'StatusDetails',
      {
        name: s.string({ description: 'Name of the object that the request was about.' }),
        group: s.string({ description: 'API group of the object that the request was about.' }),
        kind: s.string({ description: 'Resource (the plural, such as pods) or kind that the request was about.' }),
        uid: s.string({ description: 'UID of the object, where there is a single one.' }),
        causes: s.list(
          s.object(
            'StatusCause',
            {
              reason: s.string({ description: 'Machine-readable cause, such as FieldValueInvalid.' }),
              message: s.string({ description: 'Description of the error for people.' }),
              field: s.string({
                description: 'Path of the field that caused the error, such as spec.containers[0].image.',
              }),
            },
            { description: 'One of the errors that made a request fail.' },
          ),
          { description: 'Individual errors that made the request fail, such as one for each invalid field.' },
        ),
        retryAfterSeconds: s.int32({ description: 'Seconds after which the client should retry the request.' }),
      },
      { description: 'Details of a failed request.' },
    ),
    code: s.int32({ description: 'HTTP status code of the response.' }),
  },
  { description: 'Outcome of a request that returns no object.' },
);
