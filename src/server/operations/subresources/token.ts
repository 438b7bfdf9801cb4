import type { Call } from '../../../api/call.ts';
import { badRequest, conflict, noSuchPath, notFound } from '../../../api/errors.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { TokenRequest } from '../../../kinds/groups/access/authentication/token-request.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { ServiceAccount } from '../../../kinds/groups/core/service-account.ts';
import { type Kind, type KubeObject, splitApiVersion } from '../../../kinds/kind.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { BoundToken, Reference, TokenIssuer } from '../../access/authn/tokens/token-issuer.ts';
import type { Access } from '../../access/ports.ts';
import { plainItem, readBody } from '../../objects/body/body.ts';
import { checkContent, invalidObject } from '../../objects/body/check.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import { bodyTypeOf } from '../../objects/registry/descriptor.ts';
import type { ApiRequest, Resource } from '../../objects/registry/registry.ts';
import { type AdmittedBody, withAdmittedBody } from '../../objects/transaction/admitted-body.ts';
import type { Writer } from '../../objects/transaction/ports.ts';
import type { Subresource } from './subresource.ts';

type Ports = Pick<Reader, 'cache' | 'registry'> &
  Pick<Writer, 'admission'> &
  Pick<Tools, 'clock'> &
  Pick<Access, 'tokenIssuer'>;

const TOKEN_REQUEST = { group: TokenRequest.group, kind: TokenRequest.kind };
const BODY = bodyTypeOf(TokenRequest);
const CREATION = { old: undefined, subresource: undefined, apiVersion: BODY.apiVersion };
const DEFAULT_LIFETIME_SECONDS = 3600;
/** The lifetime that nodes request for a pod's API token: an hour, plus seven seconds as a mark. */
const POD_TOKEN_LIFETIME_SECONDS = 3607;
const EXTENDED_LIFETIME_SECONDS = 365 * 24 * 3600;

/** Issues a token of a service account. Tokens are not stored. */
export const token: Subresource<'token'> = {
  name: 'token',
  operations: {
    async create(core, request) {
      const { resource, call } = request;
      const issuer = core.tokenIssuer;
      if (!issuer) throw noSuchPath();
      const now = core.clock.now();
      const body: AdmittedBody<TokenRequest> = {
        read() {
          const sent = readBody(request, core.registry) as TokenRequest;
          complete(sent, accountOf(core, resource, call, sent), issuer);
          sent.metadata.creationTimestamp = timestamp(now);
          sent.status = { token: '' };
          return sent;
        },
        check: (sent) => checkContent(TokenRequest, sent, CREATION),
      };
      return withAdmittedBody(core, request, body, (sent) => {
        const account = accountOf(core, resource, call, sent);
        const bound = boundTo(core, call, sent);
        sent.status = issue(request, sent, { issuer, account, bound, now });
        return { type: 'object', item: plainItem(sent) };
      });
    },
  },
  content: { type: 'body', of: () => BODY },
};

function accountOf(core: Ports, { kind }: Resource, call: Call, { metadata }: TokenRequest): ServiceAccount {
  const { namespace = '', name = '' } = call;
  const mismatch = (field: 'name' | 'namespace') => {
    const detail = `must match the service account ${field} if specified`;
    return invalidObject(TOKEN_REQUEST, name, [invalid(`metadata.${field}`, metadata[field], detail)]);
  };
  if (metadata.name && metadata.name !== name) throw mismatch('name');
  if (metadata.namespace && metadata.namespace !== namespace) throw mismatch('namespace');
  const account = objectAt(core, kind, namespace, name) as ServiceAccount | undefined;
  if (!account) throw notFound(kind, name);
  const { uid } = account.metadata;
  if (metadata.uid && metadata.uid !== uid) {
    const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`;
    throw conflict({ group: TOKEN_REQUEST.group, plural: TOKEN_REQUEST.kind }, name, why);
  }
  return account;
}

function complete(request: TokenRequest, { metadata }: ServiceAccount, { audiences }: TokenIssuer): void {
  const { name, namespace, uid } = metadata;
  request.metadata = { ...request.metadata, name, namespace, uid };
  if (!request.spec.audiences?.length) request.spec.audiences = [...audiences];
}

type Bound = Pick<BoundToken, 'pod' | 'node' | 'secret'>;

const BINDABLE: Readonly<Record<string, Kind>> = { Pod, Secret, Node };

/** Returns the object that the token is bound to. Throws when it does not exist or does not match the request. */
function boundTo(core: Ports, call: Call, { spec }: TokenRequest): Bound {
  const reference = spec.boundObjectRef;
  if (!reference) return {};
  const { kind: kindName = '', apiVersion = '', name = '' } = reference;
  const [group, version] = splitApiVersion(apiVersion);
  const kind = group === '' && Object.hasOwn(BINDABLE, kindName) ? BINDABLE[kindName] : undefined;
  if (!kind) throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kindName}`);
  const found = objectAt(core, kind, kind === Node ? '' : (call.namespace ?? ''), name);
  if (!found) throw notFound(kind, name);
  if (kind === Pod && (found as Pod).spec.serviceAccountName !== call.name) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(call.name)} to pod running with different serviceaccount name.`,
    );
  }
  const uid = found.metadata.uid ?? '';
  if (reference.uid && reference.uid !== uid) {
    const why = `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group, plural: kindName }, name, why);
  }
  const bound: Reference = { name, uid };
  switch (kind) {
    case Secret:
      return { secret: bound };
    case Node:
      return { node: bound };
    default:
      return { pod: bound, node: nodeOf(core, found as Pod) };
  }
}

/** Returns the node of a pod. A node that no longer exists has no uid. */
function nodeOf(core: Ports, { spec }: Pod): BoundToken['node'] {
  const name = spec.nodeName;
  if (!name) return undefined;
  const uid = objectAt(core, Node, '', name)?.metadata.uid;
  return uid ? { name, uid } : { name };
}

function objectAt(core: Ports, kind: Kind, namespace: string, name: string): KubeObject | undefined {
  return core.cache.table(kind).get(namespace, name)?.hub(kind);
}

interface Grant {
  readonly issuer: TokenIssuer;
  readonly account: ServiceAccount;
  readonly bound: Bound;
  readonly now: number;
}

function issue(
  { notes }: ApiRequest,
  { spec }: TokenRequest,
  { issuer, account, bound, now }: Grant,
): TokenRequest['status'] {
  const { maxSeconds } = issuer;
  const audiences = spec.audiences ?? [];
  if (maxSeconds !== undefined && (spec.expirationSeconds ?? 0) > maxSeconds) {
    notes.warn(`requested expiration of ${spec.expirationSeconds} seconds shortened to ${maxSeconds} seconds`);
    spec.expirationSeconds = maxSeconds;
  }
  const seconds = spec.expirationSeconds ?? DEFAULT_LIFETIME_SECONDS;
  const isExtended =
    issuer.extendsExpiration &&
    bound.pod !== undefined &&
    seconds === POD_TOKEN_LIFETIME_SECONDS &&
    audiences.every((each) => issuer.audiences.includes(each));
  const { namespace = '', name = '', uid = '' } = account.metadata;
  return {
    token: issuer.issue({
      namespace,
      account: { name, uid },
      audiences,
      now: Math.floor(now / 1000),
      seconds: isExtended ? EXTENDED_LIFETIME_SECONDS : seconds,
      warnAfter: isExtended ? seconds : undefined,
      ...bound,
    }),
    expirationTimestamp: timestamp(now + seconds * 1000),
  };
}
