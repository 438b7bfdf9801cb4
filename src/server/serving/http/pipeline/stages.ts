/** Creates the stages of the pipeline from its options. */

import type { Handle } from '../../../../api/call.ts';
import type { ServedAction } from '../../../../api/served-action.ts';
import type { User } from '../../../../api/user.ts';
import type { WorkMonitor } from '../../../../base/event-loop/watchdog.ts';
import type { Logger } from '../../../../base/log.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import type { Audit } from '../../../access/audit/audit.ts';
import { ANONYMOUS, type Authenticate } from '../../../access/authn/authenticator.ts';
import { unsecuredUser } from '../../../access/authn/unsecured.ts';
import type { Authorizer } from '../../../access/authz/authorizer.ts';
import { Impersonation } from '../../../access/authz/impersonation/impersonation.ts';
import type { FlowControl } from '../../../access/fairness/flow-control.ts';
import { RequestMemos } from '../../../access/request-memos.ts';
import type { Registry } from '../../../objects/registry/registry.ts';
import type { DecodeYaml } from '../../codec/yaml.ts';
import type { Exchange } from '../../exchange.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { ProtobufReplies } from '../../protobuf/replies.ts';
import { RequestBodies } from '../body/request-bodies.ts';
import { Deadlines } from '../deadlines.ts';
import { Documents, type DocumentsOptions } from '../documents/documents.ts';
import { Health, type HealthCheck } from '../documents/health.ts';
import { HealthResults } from '../documents/health-results.ts';
import type { Limits } from '../limits.ts';
import { NO_QUERY } from '../route/query.ts';
import { Routes } from '../route/route.ts';
import { admitStage } from './admit.ts';
import { findRouteStage } from './find-route.ts';
import { impersonateStage } from './impersonate.ts';
import { negotiateResponse } from './negotiate-response.ts';
import { OpenStreams } from './open-streams.ts';
import { readCallStage } from './read-call.ts';
import { RequestLifecycle } from './request-lifecycle.ts';
import { respondErrorStage, respondStage } from './respond.ts';
import { serveHealthStage, servePathStage } from './serve-path.ts';

export interface PipelineOptions extends DocumentsOptions {
  readonly handle: Handle;
  readonly actions: readonly ServedAction[];
  readonly registry: Registry;
  readonly authenticate: Authenticate;
  readonly authorizer: Authorizer;
  readonly isReady: () => boolean;
  readonly checks: readonly HealthCheck[];
  readonly metrics: Metrics;
  readonly limits: Limits;
  /** Decodes large YAML bodies. Default: on the event loop. */
  readonly decodeLargeYaml?: DecodeYaml | undefined;
  /** The audit log; when absent, nothing is recorded. */
  readonly audit?: Audit | undefined;
  /** Flow control; when absent, every request is served at once. */
  readonly flowControl?: FlowControl | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  /** Receives notice of the request being handled. */
  readonly monitor: WorkMonitor;
}

export type Stages = ReturnType<typeof createStages>;

export function createStages(options: PipelineOptions) {
  const { handle, audit, authorizer, flowControl, clock, limits, log, registry, backends, metrics } = options;
  const { checks, isReady, monitor, decodeLargeYaml } = options;
  const streams = new OpenStreams();
  const health = new Health({ checks, isReady, isDraining: () => streams.isDraining, results: new HealthResults() });
  const documents = new Documents(options, health);
  const routes = new Routes(backends);
  const impersonation = new Impersonation(authorizer);
  metrics.add(impersonation);
  const admit = admitStage({ authorizer });
  const protobuf = new ProtobufReplies(registry);
  const respondError = respondErrorStage({ log, streams, protobuf });
  const lifecycle = {
    audit,
    flowControl,
    memos: new RequestMemos(),
    deadlines: new Deadlines(clock, limits.requestTimeoutMs),
    onTimeout: (exchange: Parameters<typeof respondError>[0], error: unknown) =>
      respondError(exchange, error, NO_QUERY),
  };
  return {
    streams,
    documents,
    monitor,
    counting: { requests: metrics.requests, clock },
    accept: (exchange: Exchange) => new RequestLifecycle(exchange, lifecycle),
    authenticate: authenticateStage(options),
    impersonate: impersonateStage({ impersonation, routes }),
    findRoute: findRouteStage({ routes, admit }),
    admit,
    negotiate: negotiateResponse,
    readCall: readCallStage({ bodies: new RequestBodies(registry, limits, decodeLargeYaml), monitor }),
    handle,
    respond: respondStage({ clock, streams, protobuf }),
    respondError,
    serveHealth: serveHealthStage({ health, admit }),
    servePath: servePathStage({ streams, routes, documents, actions: options.actions }),
  };
}

/**
 * Public paths, which reveal only that the server runs and its release. Without credentials they are served
 * anonymously.
 */
const PUBLIC_PATHS: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/']);

/** Authenticates the sender of a request. Throws, or rejects with, an Unauthorized. */
function authenticateStage({ authenticate }: { readonly authenticate: Authenticate }) {
  return (exchange: Exchange, path: string): User | Promise<User> => {
    if (exchange.peer.isUnsecured) return unsecuredUser(exchange.headers);
    return PUBLIC_PATHS.has(path) && !hasCredentials(exchange) ? ANONYMOUS : authenticate(exchange);
  };
}

function hasCredentials({ certificate, authorization, token }: Exchange): boolean {
  return certificate !== undefined || Boolean(authorization) || Boolean(token);
}
