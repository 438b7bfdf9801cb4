import { ApiError } from '../../base/errors.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { plainItem } from '../objects/unstored.ts';
import { get } from '../verbs/get.ts';
import { named, type Subresource } from './subresource.ts';

/** Explains why a pod is on its node or on none; undefined when the scheduler does not know the pod yet. */
export type ExplainPod = (namespace: string, name: string) => object | undefined;

/** The scheduler's explanation of why a pod is on its node or on none. Kubernetes has no such subresource. */
export const explain: Subresource = {
  name: 'explain',
  of: named('explain'),
  verbs: {
    async get(core, request) {
      const { object } = (await get(core, request)).item;
      const { name = '', namespace = '', uid, resourceVersion } = object.metadata;
      const explanation = core.explainPod(namespace, name);
      if (!explanation) throw new ApiError('ServiceUnavailable', `no scheduler here knows the pod "${name}"`);
      const metadata = { name, namespace, uid, resourceVersion };
      return {
        type: 'object',
        item: plainItem({ kind: 'PodExplanation', apiVersion: 'v1', metadata, ...explanation } as KubeObject),
      };
    },
  },
};
