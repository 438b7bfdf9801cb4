/** The controllers that a control plane runs: the one list. */
import type { Controller } from './define.ts';
import { type NamespaceControllerOptions, namespaceController } from './namespace/namespace.ts';
import { rootCaController } from './root-ca/root-ca.ts';
import { type ServiceAccountControllerOptions, serviceAccountController } from './service-account/service-account.ts';

export type ControllerOptions = NamespaceControllerOptions & ServiceAccountControllerOptions;

export const allControllers = (options: ControllerOptions): readonly Controller[] => [
  namespaceController(options),
  rootCaController(options.authority),
  serviceAccountController(options),
];
