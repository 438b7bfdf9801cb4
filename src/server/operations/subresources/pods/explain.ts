import { ApiError } from '../../../../api/errors.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import { plainItem } from '../../../objects/body/body.ts';
import { get } from '../../verbs/get.ts';
import type { Subresource } from '../subresource.ts';

const TYPE = { kind: 'PodExplanation', apiVersion: 'v1' };

/** Explains why the scheduler assigned a pod to its node, or why the pod is pending. An addition to Kubernetes. */
export const explain: Subresource<'explain'> = {
  name: 'explain',
  operations: {
    async get(core, request) {
      const { object } = (await get(core, request)).item;
      const { name = '', namespace = '', uid, resourceVersion } = object.metadata;
      const explanation = core.explainPod(namespace, name);
      if (!explanation) throw new ApiError('ServiceUnavailable', `no scheduler here knows the pod "${name}"`);
      const metadata = { name, namespace, uid, resourceVersion };
      return { type: 'object', item: plainItem({ ...TYPE, metadata, ...explanation } as KubeObject) };
    },
  },
  content: { type: 'body', of: () => TYPE },
};
