import { badRequest } from '../../../../api/errors.ts';
import type { TreeRequest } from '../../../../api/served-action.ts';
import type { UndoAnswer, UndoRequest } from '../../../../api/undo/undo-set.ts';
import { isTree } from '../../../../base/json/tree.ts';
import type { OperationPorts } from '../../ports.ts';
import { newestRevision, revisionOf } from '../moment.ts';
import { undoSet } from './undo.ts';

/** Performs the request to undo a set of changes. Rejects with an ApiError. */
export async function answerUndo(core: OperationPorts, request: TreeRequest): Promise<UndoAnswer> {
  const { since, until, namespace, user: by, dryRun = false, force = false } = undoRequest(await request.body());
  const { user, userAgent, requestId, signal } = request;
  const waiting = { options: undefined, signal };
  const newest = await newestRevision(core);
  const range = {
    since: await revisionOf(core, { name: 'since', text: since }, waiting),
    until: until === undefined ? newest : await revisionOf(core, { name: 'until', text: until }, waiting),
    namespace: namespace || undefined,
    user: by || undefined,
  };
  return undoSet(core, { range, dryRun, force, user, userAgent, requestId, signal });
}

const FIELDS: Readonly<Record<keyof UndoRequest, 'string' | 'boolean'>> = {
  since: 'string',
  until: 'string',
  namespace: 'string',
  user: 'string',
  dryRun: 'boolean',
  force: 'boolean',
};

function undoRequest(body: Buffer): UndoRequest {
  const tree = parsed(body);
  for (const [name, value] of Object.entries(tree)) {
    const type = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof UndoRequest] : undefined;
    if (type === undefined) throw badRequest(`undo: there is no field ${JSON.stringify(name.slice(0, 100))}`);
    if (typeof value !== type) throw badRequest(`undo: expected ${name} to be a ${type}, found ${typeof value}`);
  }
  if (tree.since === undefined) throw badRequest('undo: expected since, the moment to go back to');
  return tree as unknown as UndoRequest;
}

function parsed(body: Buffer): Record<string, unknown> {
  let tree: unknown;
  try {
    tree = JSON.parse(body.toString());
  } catch (error) {
    throw badRequest('undo: the body is not JSON', error);
  }
  if (!isTree(tree)) throw badRequest('undo: expected an object such as {"since":"2030-01-01T12:00:00Z"}');
  return tree;
}
