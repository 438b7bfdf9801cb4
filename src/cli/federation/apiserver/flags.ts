/** The flags of `qd federation-apiserver`. */
import { flag, type ValuesOf } from '../../../base/flag.ts';
import { admissionPluginNames } from '../../../server/operations/admission/names.ts';
import { etcdDriver } from '../../../store/etcd/driver.ts';
import { requestLimitFlags } from '../../flags/request-limits.ts';
import * as value from '../../flags/values.ts';
import { verbosityFlags } from '../../flags/verbosity.ts';

export const federationServerFlags = [
  flag('--bind-address <ip>', { help: 'address to listen on', parse: value.address, default: '0.0.0.0' }),
  flag('--secure-port <port>', { help: 'port to listen on', parse: value.port, default: 8443 }),
  flag('--advertise-address <ip>', {
    help: 'address that clients are told to use',
    parse: value.address,
    defaultText: 'the one that is listened on',
  }),
  flag('--tls-cert-file <file>', { help: 'certificate to serve with; required', parse: value.file }),
  flag('--tls-private-key-file <file>', { help: 'private key of that certificate; required', parse: value.file }),
  flag('--client-ca-file <file>', {
    help: 'certificate authorities whose client certificates are accepted',
    parse: value.file,
  }),
  flag('--basic-auth-file <file>', { help: 'passwords, one per line: password,user,uid,"group1,group2"' }),
  flag('--token-auth-file <file>', { help: 'bearer tokens, one per line: token,user,uid,"group1,group2"' }),
  flag('--anonymous-auth [bool]', {
    help: 'accept requests without credentials as user system:anonymous',
    parse: value.boolean,
    default: false,
  }),
  flag('--admission-control <names>', {
    help: 'admission plugins to run, in the order of the server',
    parse: value.namesOf(admissionPluginNames),
    default: ['NamespaceLifecycle'] as readonly string[],
  }),
  flag('--data-dir <dir>', {
    help: 'store objects in this directory; without it and without --etcd-servers, objects are lost at the end',
    parse: value.file,
  }),
  ...etcdDriver.flags,
  flag('--max-requests-inflight <count>', {
    help: 'maximum number of concurrent read requests',
    parse: value.count,
    default: 400,
  }),
  ...requestLimitFlags,
  ...verbosityFlags,
] as const;

export type FederationServerFlags = ValuesOf<typeof federationServerFlags>;
