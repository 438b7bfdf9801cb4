/**
 * Lists every map and set in the server that outlives a call, and why it cannot grow without limit. Clients choose
 * names, paths, headers and selectors, so a map under such keys is a `BoundedMap`, or is listed here as limited in
 * another way. A new map fails this test until its limit is listed.
 */
import { expect, it } from 'vitest';
import { isTest, sourcesBelow } from './source.ts';

/** Reason why a map is limited. */
type Limit =
  /** The map belongs to one call or one value, and is gone with it. */
  | 'one call'
  /** The map holds things in progress: requests, connections, watches. Those have their own limits. */
  | 'in progress'
  /** The map follows stored objects, and forgets deleted ones. */
  | 'stored objects'
  /** The map follows the kinds and versions that are served, or a fixed set of words. */
  | 'served kinds'
  /** The map is limited in bytes, by its own count, a `ByteBudget`, or short keys and a number. */
  | 'bytes';

const LIMITS: Readonly<Record<string, Readonly<Record<string, Limit>>>> = {
  'src/base/collections/bounded-map.ts': { '#entries': 'bytes' },
  'src/protocols/grpc/outgoing.ts': { '#blocked': 'in progress' },
  'src/protocols/grpc/session.ts': { '#streams': 'in progress', '#queue': 'in progress' },
  'src/base/collections/short-lived-map.ts': { '#young': 'in progress', '#old': 'in progress' },
  'src/protocols/spdy/session.ts': { '#streams': 'in progress', '#pings': 'in progress' },
  'src/base/files/inside/tree-bytes.ts': { '#linked': 'bytes' },
  'src/base/sockets/keyed-socket/calls.ts': { '#waiting': 'in progress' },
  'src/base/reconcile/reconcile-loop.ts': { '#pending': 'stored objects', '#errors': 'stored objects' },
  'src/base/reconcile/work-queue.ts': {
    '#ready': 'stored objects',
    '#running': 'stored objects',
    '#again': 'stored objects',
    '#delayed': 'stored objects',
    '#failures': 'stored objects',
  },
  'src/kinds/custom/custom-kind.ts': { '#schemas': 'served kinds' },
  'src/kinds/groups/extension/admissionregistration/expressions/environments.ts': { known: 'served kinds' },
  'src/kinds/groups/extension/admissionregistration/expressions/policy-compiler.ts': {
    '#types': 'stored objects',
    '#environments': 'stored objects',
  },
  'src/kinds/groups/extension/apiextensions/json-schema-props.ts': { unions: 'served kinds' },
  'src/kinds/placement/host-ports.ts': { '#byNumber': 'one call', '#byAddress': 'one call' },
  'src/kinds/quota/pods.ts': { NO_STATUSES: 'one call' },
  'src/kinds/shapes/pod/resource-claims.ts': { NO_CLAIMS: 'one call' },
  'src/schema/json-document.ts': { '#own': 'one call' },
  'src/server/operations/admission/expressions/activation.ts': { '#begun': 'one call' },
  'src/server/operations/admission/plugins/pod-security/controls/all.ts': { known: 'served kinds' },
  'src/server/operations/admission/plugins/resource-quota/resource-quota.ts': { '#last': 'in progress' },
  'src/server/operations/admission/reinvocation.ts': { '#asked': 'one call', '#again': 'one call' },
  'src/server/serving/aggregation/aggregator.ts': { '#followed': 'stored objects' },
  'src/server/access/audit/webhook.ts': { '#sending': 'in progress' },
  'src/server/access/authz/impersonation/impersonation.ts': { '#counts': 'served kinds' },
  'src/server/access/authz/node/node-pods.ts': { '#nodes': 'stored objects', '#nodeOfPod': 'stored objects' },
  'src/server/access/authz/rbac/bindings.ts': {
    '#users': 'stored objects',
    '#groups': 'stored objects',
    '#positions': 'stored objects',
  },
  'src/server/access/authz/rbac/held-rules.ts': { '#byResource': 'one call' },
  'src/server/access/authz/rbac/rbac.ts': { '#byIdentity': 'bytes' },
  'src/server/access/authz/rbac/user-permissions.ts': {
    '#byResource': 'bytes',
    '#byPath': 'bytes',
    '#namespaces': 'bytes',
  },
  'src/server/access/authz/webhook/webhook.ts': { '#pending': 'in progress' },
  'src/server/serving/backends/backend-registry.ts': {
    '#others': 'served kinds',
    '#listeners': 'served kinds',
    '#backends': 'served kinds',
  },
  'src/server/objects/cache/cache.ts': {
    '#tables': 'served kinds',
    '#turnListeners': 'in progress',
    '#written': 'in progress',
  },
  'src/server/objects/cache/definitions/definition-marks.ts': { '#marks': 'served kinds', '#recursive': 'one call' },
  'src/server/objects/cache/table.ts': {
    byName: 'stored objects',
    '#namespaces': 'stored objects',
    listeners: 'in progress',
  },
  'src/server/upkeep/custom-kinds/custom-kinds.ts': { '#followed': 'stored objects' },
  'src/server/serving/discovery/discovery.ts': { '#documents': 'served kinds' },
  'src/server/access/fairness/flow-schemas.ts': {
    rejections: 'served kinds',
    '#flows': 'bytes',
    '#counts': 'stored objects',
    '#levels': 'stored objects',
  },
  'src/server/access/fairness/priority-and-fairness.ts': { '#unauthenticated': 'bytes' },
  'src/server/serving/faults/fault-injector.ts': { '#faults': 'stored objects', '#watches': 'in progress' },
  'src/server/objects/managed-fields/managers.ts': { NO_MANAGERS: 'one call' },
  'src/server/serving/codec/json-duplicates.ts': { NONE: 'one call', '#found': 'one call' },
  'src/server/serving/http/documents/health.ts': { '#results': 'served kinds' },
  'src/server/serving/http/front/front-thread.ts': {
    '#exchanges': 'in progress',
    '#paced': 'in progress',
    '#progressed': 'in progress',
  },
  'src/server/serving/http/front/remote-listeners.ts': {
    '#peers': 'in progress',
    '#exchanges': 'in progress',
    '#commands': 'in progress',
    '#turns': 'in progress',
  },
  'src/server/serving/http/listen/backlog-limiter.ts': { '#pending': 'in progress', '#shared': 'in progress' },
  'src/server/serving/http/listen/connections.ts': { '#open': 'in progress', '#countByNetwork': 'in progress' },
  'src/server/serving/http/listen/listeners.ts': { '#sessions': 'in progress' },
  'src/server/serving/http/listen/multiplexed-requests.ts': { '#waiting': 'in progress' },
  'src/server/serving/http/listen/pipelined-requests.ts': { '#responses': 'in progress' },
  'src/server/serving/http/pipeline/open-streams.ts': { '#streams': 'in progress' },
  'src/server/serving/metrics/event-loop.ts': { '#blocked': 'served kinds' },
  'src/server/serving/metrics/requests.ts': { codes: 'served kinds', '#series': 'served kinds' },
  'src/server/serving/openapi/definitions.ts': { all: 'served kinds' },
  'src/server/serving/openapi/openapi.ts': { '#documents': 'served kinds' },
  'src/server/serving/openapi/schemas.ts': { '#written': 'served kinds' },
  'src/server/upkeep/peers/peers.ts': { '#leases': 'stored objects', '#listeners': 'in progress' },
  'src/server/serving/protobuf/message-writers.ts': { '#writers': 'served kinds' },
  'src/server/serving/protobuf/messages.ts': { '#readers': 'served kinds' },
  'src/server/serving/protobuf/replies.ts': {
    '#kinds': 'served kinds',
    '#heads': 'served kinds',
    '#metadata': 'served kinds',
  },
  'src/server/objects/reads/list-bodies.ts': { '#kept': 'bytes' },
  'src/server/objects/reads/watch-backlogs.ts': { '#holders': 'in progress', '#slow': 'in progress' },
  'src/server/objects/reads/watch-channel.ts': { members: 'in progress' },
  'src/server/objects/reads/watches.ts': {
    '#channels': 'in progress',
    '#members': 'in progress',
    '#dirty': 'in progress',
  },
  'src/server/objects/registry/registry.ts': {
    '#kinds': 'served kinds',
    '#resources': 'served kinds',
    '#listeners': 'in progress',
  },
  'src/server/objects/transaction/commit.ts': { '#inFlight': 'in progress' },
  'src/server/objects/transaction/several.ts': { '#drafts': 'one call' },
  'src/server/objects/cache/drafted-cache.ts': { '#copies': 'one call' },
  'src/server/operations/history/rights.ts': { '#lists': 'one call', '#gets': 'one call' },
  'src/server/operations/history/undo/change-set.ts': {
    '#objects': 'one call',
    '#deletedUids': 'one call',
    '#deletedNamespaces': 'one call',
    '#deletedTables': 'one call',
    users: 'one call',
  },
};

/** An empty map or set at the top of a module or in a field: something is to be put into it later. */
const GROWING =
  /^(?:export )?(?:const|let) (\w+)(?:: [^=\n]+)? = new (?:Map|Set|ShortLivedMap)\b[^\n]*\(\)|^ {2}(?:(?:readonly|private|static) )*(#?\w+)(?:: [^=\n]+)? = new (?:Map|Set|ShortLivedMap)\b[^\n]*\(\)/gm;

it('knows what limits every map of the server', () => {
  const found = ['src/base', 'src/protocols', 'src/api', 'src/schema', 'src/kinds', 'src/server']
    .flatMap(sourcesBelow)
    .filter(({ path }) => !isTest(path))
    .flatMap(({ path, code }) => [...code.matchAll(GROWING)].map(([, top, field]) => `${path} ${top ?? field}`));
  const listed = Object.entries(LIMITS).flatMap(([path, maps]) => Object.keys(maps).map((name) => `${path} ${name}`));
  expect(found.length).toBeGreaterThan(50);
  expect(found.sort()).toEqual(listed.sort());
});
