/**
 * The list of custom resource definitions while no backend serves their group: it is empty. kubectl requests it, although
 * discovery does not list it, wherever the schemas do not say that a kind can be patched (reviews, bindings), and treats a
 * 404 as a failure.
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
