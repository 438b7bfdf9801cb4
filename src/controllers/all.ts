/** The controllers that a control plane runs: the one list. */
import { clusterRoleAggregationController } from './cluster-role-aggregation/cluster-role-aggregation.ts';
import type { Controller } from './define.ts';
import { type NamespaceControllerOptions, namespaceController } from './namespace/namespace.ts';
import { rootCaController } from './root-ca/root-ca.ts';
import { type ServiceAccountControllerOptions, serviceAccountController } from './service-account/service-account.ts';

export type ControllerOptions = NamespaceControllerOptions & ServiceAccountControllerOptions;

export const allControllers = (options: ControllerOptions): readonly Controller[] => [
  clusterRoleAggregationController,
  namespaceController(options),
  rootCaController(options.authority),
  serviceAccountController(options),
];
