/** Creates pods from the template of a controller. */

import type { DeepReadonly, Draft, KindRef } from '../../../api/object-types.ts';
import type { EventSubject } from '../../../client/events/event-recorder.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { type EventReport, eventContent, type Named } from '../../loop/plan.ts';
import { controllerReference } from '../ownership.ts';

interface Template {
  readonly metadata?: DeepReadonly<Pod['metadata']>;
  readonly spec?: DeepReadonly<Pod['spec']>;
}

/** Named after its owner, with a suffix that the server generates. */
export function newPod(owner: Named, kind: KindRef, template: DeepReadonly<Template>): Draft<Pod> {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const { name = '', namespace } = owner.metadata;
  return {
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels,
      annotations,
      finalizers,
      ownerReferences: [controllerReference(owner, kind)],
    },
    spec: template.spec,
  } as Draft<Pod>;
}

export const creationReport = (about: EventSubject): EventReport => ({
  about,
  done: (name) => eventContent('Normal', 'SuccessfulCreate', `Created pod: ${name}`),
  failed: ({ message }) => eventContent('Warning', 'FailedCreate', `Error creating: ${message}`),
});

/** Events about pods that the owner deletes. */
export const deletionReport = (about: EventSubject): EventReport => ({
  about,
  done: (name) => eventContent('Normal', 'SuccessfulDelete', `Deleted pod: ${name}`),
  failed: ({ message }) => eventContent('Warning', 'FailedDelete', `Error deleting: ${message}`),
});
