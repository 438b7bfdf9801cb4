/**
 * How a pod's ids differ from those of the node. `none`: not at all. `mapped-mounts`: the runtime maps them on every mount, so that
 * files have the same ids on disk as in the pod. `mapped-owners`: it cannot, so that files belong to the node's ids on disk.
 */
export type UserNamespaceMode = 'none' | 'mapped-mounts' | 'mapped-owners';
