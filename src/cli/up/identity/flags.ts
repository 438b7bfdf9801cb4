import { FlagError, flag, type ValuesOf } from '../../../base/flag.ts';
import { algorithmNames } from '../../../server/access/authn/tokens/jwt.ts';
import { EXTRA_HEADER_PREFIX, GROUP_HEADER, USER_HEADER } from '../../../server/serving/aggregation/user-headers.ts';
import * as value from '../../flags/values.ts';

const HOUR_MS = 3_600_000;

export const identityFlags = [
  flag('--kubeconfig <file>', {
    help: "kubeconfig file to write the cluster's context to, besides DIR/admin.kubeconfig",
    parse: value.file,
    defaultText: 'your own: $KUBECONFIG, or ~/.kube/config',
  }),
  flag('--token-auth-file <file>', { help: 'bearer tokens, one per line: token,user,uid,"group1,group2"' }),
  flag('--basic-auth-file <file>', { help: 'passwords, one per line: password,user,uid,"group1,group2"' }),
  flag('--client-ca-file <file>', {
    help: "certificate authorities, besides the cluster's own, whose client certificates are accepted",
  }),
  flag('--requestheader-client-ca-file <file>', {
    help: 'certificate authorities of authenticating proxies, whose headers name the user of a request',
  }),
  flag('--requestheader-allowed-names <list>', {
    help: 'common names of the certificates of authenticating proxies',
    parse: value.list,
    defaultText: 'all that the authorities have signed',
  }),
  flag('--requestheader-username-headers <list>', {
    help: 'headers that name the user; the first with a value counts',
    parse: value.list,
    default: [USER_HEADER] as readonly string[],
  }),
  flag('--requestheader-group-headers <list>', {
    help: "headers that name the user's groups",
    parse: value.list,
    default: [GROUP_HEADER] as readonly string[],
  }),
  flag('--requestheader-extra-headers-prefix <list>', {
    help: 'prefixes of headers with further facts about the user',
    parse: value.list,
    default: [EXTRA_HEADER_PREFIX] as readonly string[],
  }),
  flag('--anonymous-auth [bool]', {
    help: 'accept requests without credentials as user system:anonymous',
    parse: value.boolean,
    default: false,
  }),
  flag('--service-account-issuer <url>', {
    help: 'issuer of service account tokens; may be repeated: tokens of the further issuers are accepted, too',
    parse: issuer,
    defaultText: 'https://kubernetes.default.svc.cluster.local',
  }),
  flag('--api-audiences <list>', {
    help: 'audiences that tokens must be issued for',
    parse: value.list,
    defaultText: 'the issuers',
  }),
  flag('--service-account-max-token-expiration <time>', {
    help: 'maximum lifetime of a bound service account token',
    parse: tokenLifetime,
  }),
  flag('--service-account-extend-token-expiration [bool]', {
    help: 'extend the tokens of pods to one year, for programs that do not reload them',
    parse: value.boolean,
    default: false,
  }),
  flag('--cluster-signing-duration <time>', {
    help: 'maximum lifetime of certificates issued for CertificateSigningRequests',
    parse: value.duration,
    default: 8760 * HOUR_MS,
    defaultText: '8760h',
  }),
  flag('--oidc-issuer-url <url>', { help: 'OpenID Connect issuer whose ID tokens are accepted', parse: httpsUrl }),
  flag('--oidc-client-id <id>', { help: 'audience that ID tokens must be issued for' }),
  flag('--oidc-username-claim <claim>', { help: 'claim that holds the user name', default: 'sub' }),
  flag('--oidc-username-prefix <text>', {
    help: 'prefix for user names; - for none',
    defaultText: 'the issuer URL and #, or none for the claim email',
  }),
  flag('--oidc-groups-claim <claim>', { help: "claim that holds the user's groups" }),
  flag('--oidc-groups-prefix <text>', { help: 'prefix for group names', default: '' }),
  flag('--oidc-required-claim <key=value>', {
    help: 'claim that an ID token must have; may be repeated',
    parse: claim,
  }),
  flag('--oidc-ca-file <file>', {
    help: "certificate authorities that sign the issuer's serving certificate",
    defaultText: 'those that Node trusts',
  }),
  flag('--oidc-signing-algs <list>', {
    help: 'accepted signing algorithms',
    parse: value.namesOf(algorithmNames),
    default: ['RS256'] as readonly string[],
  }),
] as const;

export type IdentityFlags = ValuesOf<typeof identityFlags>;

/** A URL, or any text without a colon. */
function issuer(text: string, previous: readonly string[] = []): readonly string[] {
  if (text === '' || (text.includes(':') && !URL.canParse(text))) {
    throw new FlagError('It must be a URL, such as https://issuer.example.');
  }
  return [...previous, text];
}

function httpsUrl(text: string): string {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:') throw new FlagError('It must be an https URL.');
  return text;
}

function tokenLifetime(text: string): number {
  const lifetime = value.duration(text);
  if (lifetime < HOUR_MS) throw new FlagError('It must be at least one hour.');
  return lifetime;
}

function claim(text: string, previous: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new FlagError('It must be key=value.');
  return new Map([...previous, [text.slice(0, equals), text.slice(equals + 1)]]);
}
