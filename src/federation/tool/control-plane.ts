/** A control plane that is to be deployed on a host cluster. */

import type { AnyObject } from '../../api/object-types.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { Overrides } from './argument-overrides.ts';

export interface ControlPlane {
  readonly name: string;
  readonly namespace: string;
  readonly dns: {
    readonly provider: string;
    /** Zone with a trailing dot. */
    readonly zone: string;
    /** Content of the provider's configuration. */
    readonly config: string | undefined;
  };
  /** The image that has the program, and how it is run in it. */
  readonly image: string;
  readonly program: readonly string[];
  /** Image of etcd; undefined when the API server stores objects itself. */
  readonly etcdImage: string | undefined;
  readonly serviceType: 'LoadBalancer' | 'NodePort';
  readonly advertiseAddress: string | undefined;
  /** Storage of the state; undefined when it does not survive restarts. */
  readonly storage: { readonly capacity: string; readonly className: string | undefined } | undefined;
  readonly hasBasicAuth: boolean;
  readonly hasTokenAuth: boolean;
  readonly serverOverrides: Overrides;
  readonly managerOverrides: Overrides;
}

export interface ObjectToCreate {
  readonly kind: Kind;
  readonly object: AnyObject;
}

export const FEDERATION_NAME = 'federation.alpha.kubernetes.io/federation-name';
/** Annotation of the controller manager: the federation and its domain, as the DNS of members is told. */
export const FEDERATIONS = 'federations';

export const serverName = ({ name }: Pick<ControlPlane, 'name'>) => `${name}-apiserver`;
export const managerName = ({ name }: Pick<ControlPlane, 'name'>) => `${name}-controller-manager`;
export const claimName = (plane: Pick<ControlPlane, 'name'>) => `${serverName(plane)}-etcd-claim`;
export const credentialsName = (plane: Pick<ControlPlane, 'name'>) => `${serverName(plane)}-credentials`;

/** Builds an object without the fields that a server fills in. */
export function objectOf(kind: Kind, fields: object): ObjectToCreate {
  return { kind, object: { apiVersion: kind.hub.apiVersion, kind: kind.kind, ...fields } as AnyObject };
}
