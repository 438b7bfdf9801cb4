/** The flags of `qd up` that say who is known, and by what. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { algorithmNames } from '../../../server/authn/jwt.ts';
import * as value from '../../flags/values.ts';

export interface IdentityFlags {
  readonly tokenAuthFile?: string;
  readonly basicAuthFile?: string;
  readonly clientCaFile?: string;
  readonly anonymousAuth: boolean;
  readonly serviceAccountIssuer?: readonly string[];
  readonly apiAudiences?: readonly string[];
  /** Milliseconds. */
  readonly serviceAccountMaxTokenExpiration?: number;
  readonly serviceAccountExtendTokenExpiration: boolean;
  /** Milliseconds. */
  readonly clusterSigningDuration: number;
  readonly oidcIssuerUrl?: string;
  readonly oidcClientId?: string;
  readonly oidcUsernameClaim: string;
  readonly oidcUsernamePrefix?: string;
  readonly oidcGroupsClaim?: string;
  readonly oidcGroupsPrefix: string;
  readonly oidcRequiredClaim?: ReadonlyMap<string, string>;
  readonly oidcCaFile?: string;
  readonly oidcSigningAlgs: readonly string[];
}

export function withIdentityFlags(command: Command): Command {
  return command
    .option('--token-auth-file <file>', 'bearer tokens: lines of token,user,uid,"group1,group2"')
    .option('--basic-auth-file <file>', 'passwords: lines of password,user,uid,"group1,group2"')
    .option('--client-ca-file <file>', 'authorities besides our own whose client certificates are accepted')
    .option('--anonymous-auth [bool]', 'let requests without credentials in as system:anonymous', value.flag, false)
    .option(
      '--service-account-issuer <url>',
      'whom bound tokens are from; given again: others whose tokens are still good (default: https://kubernetes.default.svc.cluster.local)',
      issuer,
    )
    .option('--api-audiences <list>', 'for whom tokens have to be (default: the issuers)', value.list)
    .option('--service-account-max-token-expiration <time>', 'how long a bound token lasts at most', tokenLife)
    .option(
      '--service-account-extend-token-expiration [bool]',
      'let tokens of pods last a year, for programs that read them once',
      value.flag,
      false,
    )
    .addOption(
      new Option('--cluster-signing-duration <time>', 'how long certificates from the API last at most')
        .argParser(value.duration)
        .default(8760 * 3_600_000, '8760h'),
    )
    .option('--oidc-issuer-url <url>', 'an OpenID Connect issuer whose tokens are accepted', httpsUrl)
    .option('--oidc-client-id <id>', 'for whom its tokens have to be')
    .option('--oidc-username-claim <claim>', "the claim that is the user's name", 'sub')
    .option(
      '--oidc-username-prefix <text>',
      'put before names; - for nothing (default: the issuer and #, but for email)',
    )
    .option('--oidc-groups-claim <claim>', 'the claim that lists groups')
    .option('--oidc-groups-prefix <text>', 'put before groups', '')
    .option('--oidc-required-claim <key=value>', 'a claim that has to be there; may be given again', claim)
    .option('--oidc-ca-file <file>', "authorities that sign the issuer's serving certificate")
    .option('--oidc-signing-algs <list>', 'algorithms that are accepted', algorithms, ['RS256']);
}

/** An address, or any text without a colon. */
function issuer(text: string, before: readonly string[] = []): readonly string[] {
  if (text === '' || (text.includes(':') && !URL.canParse(text))) {
    throw new InvalidArgumentError('It must be an address, such as https://issuer.example.');
  }
  return [...before, text];
}

function httpsUrl(text: string): string {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:') {
    throw new InvalidArgumentError('It must be an https address.');
  }
  return text;
}

function tokenLife(text: string): number {
  const life = value.duration(text);
  if (life < 3_600_000) throw new InvalidArgumentError('It must be an hour or more.');
  return life;
}

function claim(text: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> {
  const equals = text.indexOf('=');
  if (equals < 1) throw new InvalidArgumentError('It must be key=value.');
  return new Map([...before, [text.slice(0, equals), text.slice(equals + 1)]]);
}

function algorithms(text: string): readonly string[] {
  const names = value.list(text);
  const unknown = names.find((name) => !algorithmNames.includes(name));
  if (unknown !== undefined) throw new InvalidArgumentError(`Allowed are ${algorithmNames.join(', ')}.`);
  return names;
}
