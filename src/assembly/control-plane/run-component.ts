/**
 * Runs a component in the process of its server: from now on or, when several servers share the store, while this one leads.
 * A leader's writes are fenced: none is made by two. Of servers of different releases, one of the oldest leads.
 */
import { hostname } from 'node:os';
import type { WriteFence } from '../../api/call.ts';
import { isLostRace } from '../../api/errors.ts';
import type { User } from '../../api/user.ts';
import { type Client, createClient } from '../../client/client.ts';
import type { Term } from '../../client/leader-election/candidate.ts';
import { LOCAL_TIMES, type Precedence } from '../../client/leader-election/options.ts';
import { runWhileLeader } from '../../client/leader-election/run-while-leader.ts';
import { directTransport } from '../../client/transport/direct-transport.ts';
import { fencedTransport } from '../../client/transport/fenced-transport.ts';
import { forwardedTransport } from '../../client/transport/forwarded-transport.ts';
import type { Server } from '../../server/index.ts';
import type { Tools } from '../context.ts';

export type ComponentCalls = Pick<Server, 'direct' | 'forward' | 'beginTerm' | 'others'>;

export interface ComponentIdentity {
  /** The lease of the component in kube-system, such as `kube-scheduler`. */
  readonly lease: string;
  /** Acquires the lease. */
  readonly user: User;
  /** True when other servers run the same component on the same store. */
  readonly isShared: boolean | undefined;
}

export interface Running {
  /** Aborted when the component must stop. */
  readonly signal: AbortSignal;
  clientOf(user: User): Client;
}

const NAMESPACE = 'kube-system';

/** Starts the component and returns what stops it, which resolves when it has stopped. */
export function runComponent(
  server: ComponentCalls,
  { lease: name, user, isShared, ...tools }: ComponentIdentity & Tools,
  run: (running: Running) => Promise<void>,
): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const lead = async (term: Term) => {
    const { resourceVersion } = term;
    try {
      const fence = await server.beginTerm({ namespace: NAMESPACE, name, resourceVersion });
      await run({ signal: term.signal, clientOf: (each) => clientOf(server, each, tools, { fence, term }) });
    } catch (error) {
      if (!isLostRace(error)) throw error;
    }
  };
  const identity = () => `${hostname()}_${tools.random.uuid()}`;
  const client = clientOf(server, user, tools);
  const { others } = server;
  const precedence: Precedence | undefined = others && {
    yields: () => others.hasOlderCandidate(name),
    onChange: (listener) => others.onChange(listener),
  };
  const options = { ...tools, name, namespace: NAMESPACE, client, signal, times: LOCAL_TIMES, precedence };
  const running = isShared
    ? runWhileLeader({ ...options, identity: identity() }, lead)
    : run({ signal, clientOf: (each) => clientOf(server, each, tools) });
  running.catch((error: unknown) => tools.log.error('a component stopped with an error', { lease: name, error }));
  return async () => {
    stop.abort();
    await running;
  };
}

interface Leadership {
  readonly fence: WriteFence;
  readonly term: Term;
}

function clientOf(server: ComponentCalls, user: User, tools: Tools, leadership?: Leadership): Client {
  const direct = directTransport(server.direct(user, leadership?.fence));
  const forwarded = forwardedTransport(server.forward(user), tools);
  if (!leadership) return createClient(direct, forwarded);
  const isCertain = () => leadership.term.isCertain();
  return createClient(fencedTransport(direct, isCertain), fencedTransport(forwarded, isCertain));
}
