/**
 * Approves certificate requests of nodes: for a machine that is about to join, for a node that renews its client
 * certificate, and for serving certificates of a node for its own name. The server decides whether the requester has
 * the right.
 */
import type { DeepReadonly } from '../../../api/object-types.ts';
import { SubjectAccessReview } from '../../../kinds/groups/access/authorization/subject-access-review.ts';
import { CertificateSigningRequest } from '../../../kinds/groups/access/certificates/certificate-signing-request.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { DerError } from '../../../protocols/x509/der.ts';
import { type ParsedRequest, parseRequest } from '../../../protocols/x509/request.ts';
import {
  type Controller,
  defineController,
  type Listers,
  type ReadTools,
  related,
  type Snapshot,
} from '../../loop/define.ts';
import { type Plan, requeueAfter, updateSubresource } from '../../loop/plan.ts';
import { conditionOf } from '../../shared/conditions.ts';
import { KUBELET_CLIENT, KUBELET_SERVING, nodeClient, nodeServing, pemOf, type Request } from './signer-rules.ts';

/** Verdict on a request with the message for its condition; undefined when the request is not for this controller. */
export interface ApprovalDecision {
  /** `wait`: it is looked at again later, unless an administrator decides before. */
  readonly verdict: 'approve' | 'deny' | 'wait';
  readonly message: string;
}

/** Delay before a request without the necessary rights is checked again. */
const RECHECK_MS = 60_000;

const NODE_USER_PREFIX = 'system:node:';
/** Users of bootstrap tokens. */
const TOKEN_USER_PREFIX = 'system:bootstrap:';

export interface ApprovingOptions {
  /** Names that no node may serve under: the server's own. */
  readonly reservedNames: readonly string[];
}

export function approvingController({ reservedNames }: ApprovingOptions): Controller {
  return defineController<CertificateSigningRequest, ApprovalDecision | undefined>({
    name: 'csr-approving',
    account: 'certificate-controller',
    watches: CertificateSigningRequest,
    also: [
      related(Node, ({ metadata }, listers) =>
        listers
          .of(CertificateSigningRequest)
          .list()
          .filter((request) => isUndecided(request) && request.spec.username === `${NODE_USER_PREFIX}${metadata.name}`)
          .map((request) => request.metadata.name ?? ''),
      ),
    ],
    async observe(request, world, { client, signal }) {
      if (!request || !isUndecided(request)) return undefined;
      const parsed = parsedOf(request);
      if (!parsed) return undefined;
      if (isOwnServing(request, parsed, reservedNames)) {
        const node = world.of(Node).get(parsed.dnsNames[0] ?? '');
        return {
          verdict: node === undefined ? 'wait' : 'approve',
          message: 'Auto approving kubelet serving certificate for its own name.',
        };
      }
      return clientDecision(request, parsed, { client, signal, world });
    },
    plan: planApproval,
  });
}

function isUndecided(request: Request): boolean {
  return !request.status.certificate && !conditionOf(request, 'Approved') && !conditionOf(request, 'Denied');
}

export function planApproval(
  request: Request | undefined,
  { observed }: Pick<Snapshot<ApprovalDecision | undefined>, 'observed'>,
): Plan {
  if (!request || !observed || !isUndecided(request)) return [];
  const { verdict, message } = observed;
  if (verdict === 'wait') return [requeueAfter(RECHECK_MS)];
  const condition =
    verdict === 'approve' ? { type: 'Approved', reason: 'AutoApproved' } : { type: 'Denied', reason: 'NodeExists' };
  const conditions = [...(request.status.conditions ?? []), { ...condition, status: 'True', message }];
  const decided = { ...request, status: { ...request.status, conditions } };
  return [updateSubresource(CertificateSigningRequest, 'approval', decided)];
}

function parsedOf(request: Request): ParsedRequest | undefined {
  try {
    return parseRequest(pemOf(request));
  } catch (error) {
    // The signer reports the error in it.
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

/** A node may serve only under its own name. It reports its addresses itself, and could claim the server's. */
export function isOwnServing({ spec }: Request, parsed: ParsedRequest, reserved: readonly string[]): boolean {
  const name = parsed.commonName.slice(NODE_USER_PREFIX.length);
  return (
    spec.signerName === KUBELET_SERVING &&
    nodeServing(parsed, spec.usages ?? []) === undefined &&
    spec.username === parsed.commonName &&
    (spec.groups ?? []).includes('system:nodes') &&
    parsed.addresses.length === 0 &&
    parsed.dnsNames.length === 1 &&
    parsed.dnsNames[0] === name &&
    !reserved.includes(name)
  );
}

/**
 * A node renews its own certificate. Others, mostly machines with a join token, get one for a name that is free: with the
 * certificate of a node that is alive, the holder of a token would read the Secrets of its pods.
 */
async function clientDecision(
  request: Request,
  parsed: ParsedRequest,
  tools: ReadTools & { readonly world: Listers },
): Promise<ApprovalDecision | undefined> {
  const { spec } = request;
  if (spec.signerName !== KUBELET_CLIENT || nodeClient(parsed, spec.usages ?? []) !== undefined) return undefined;
  if (spec.username === parsed.commonName && (await mayCreate('selfnodeclient', request, tools))) {
    const message = 'Auto approving self kubelet client certificate after SubjectAccessReview.';
    return { verdict: 'approve', message };
  }
  const message = 'Auto approving kubelet client certificate after SubjectAccessReview.';
  if (!(await mayCreate('nodeclient', request, tools))) return { verdict: 'wait', message };
  const name = parsed.commonName.slice(NODE_USER_PREFIX.length);
  if (!isAlive(tools.world.of(Node).get(name))) return { verdict: 'approve', message };
  return { verdict: spec.username?.startsWith(TOKEN_USER_PREFIX) ? 'deny' : 'wait', message: nameTaken(name) };
}

/** The node lifecycle controller marks a node that has fallen silent as unknown. */
function isAlive(node: DeepReadonly<Node> | undefined): boolean {
  const ready = node && conditionOf(node, 'Ready');
  return ready !== undefined && ready.status !== 'Unknown';
}

function nameTaken(name: string): string {
  const advice = `wait until it is NotReady or run "kubectl delete node ${name}"`;
  return `Node ${name} exists and is alive: a join token cannot replace it. Choose another --node-name; or, if this machine takes its place, ${advice}.`;
}

async function mayCreate(subresource: string, { spec }: Request, { client, signal }: ReadTools): Promise<boolean> {
  const { username: user = '', uid, groups, extra } = spec;
  const review = await client.of(SubjectAccessReview).create(
    {
      spec: {
        user,
        uid: uid || undefined,
        groups,
        extra,
        resourceAttributes: {
          group: CertificateSigningRequest.group,
          version: '*',
          resource: CertificateSigningRequest.plural,
          subresource,
          verb: 'create',
        },
      },
    },
    { signal },
  );
  return review.status?.allowed ?? false;
}
