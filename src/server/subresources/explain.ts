import { ApiError } from '../../base/errors.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import { plainItem } from '../objects/unstored.ts';
import { get } from '../verbs/get.ts';
import { named, type Subresource } from './subresource.ts';

/** Says of a pod why it is where it is, or nowhere; undefined when whoever answers does not know the pod yet. */
export type ExplainPod = (namespace: string, name: string) => object | undefined;

/** Why a pod is where it is, or nowhere. The scheduler answers; Kubernetes has nothing like it. */
export const explain: Subresource = {
  name: 'explain',
  of: named('explain'),
  verbs: {
    async get(core, request) {
      const { object } = (await get(core, request)).item;
      const { name = '', namespace = '', uid, resourceVersion } = object.metadata;
      const said = core.explainPod(namespace, name);
      if (!said) throw new ApiError('ServiceUnavailable', `no scheduler here knows the pod "${name}"`);
      const metadata = { name, namespace, uid, resourceVersion };
      return {
        type: 'object',
        item: plainItem({ kind: 'PodExplanation', apiVersion: 'v1', metadata, ...said } as KubeObject),
      };
    },
  },
};
