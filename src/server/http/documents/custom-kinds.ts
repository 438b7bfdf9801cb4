/**
 * Which kinds clients have defined: none, and discovery offers no way to define one. kubectl asks for them all the same,
 * wherever the schemas do not say that a kind can be patched (a review, a binding), and takes no answer for a failure.
 */
export const customKinds = {
  path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  list: {
    kind: 'CustomResourceDefinitionList',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: {},
    items: [],
  },
} as const;
