/** The environment that Kubernetes' expressions are compiled in, before their variables are known. */
import { Environment } from '../cel/environment.ts';
import { KUBERNETES_LANGUAGE } from '../cel/libraries/kubernetes.ts';
import { AUTHORIZER_LIBRARY } from './authorizer.ts';
import { FORMAT_LIBRARY } from './format.ts';
import { LIST_LIBRARY } from './lists.ts';
import { CIDR_LIBRARY, IP_LIBRARY } from './network.ts';
import { QUANTITY_LIBRARY } from './quantity.ts';
import { REGEX_LIBRARY } from './regex.ts';
import { SEMVER_LIBRARY } from './semver.ts';
import { URL_LIBRARY } from './url.ts';

let environment: Environment | undefined;

/** Made when it is first needed: most servers have no expressions. */
export function kubernetesEnvironment(): Environment {
  environment ??= new Environment({
    libraries: [
      ...[...KUBERNETES_LANGUAGE, URL_LIBRARY, REGEX_LIBRARY, LIST_LIBRARY, AUTHORIZER_LIBRARY, QUANTITY_LIBRARY],
      ...[IP_LIBRARY, CIDR_LIBRARY, FORMAT_LIBRARY, SEMVER_LIBRARY],
    ],
    homogeneousLiterals: true,
  });
  return environment;
}
