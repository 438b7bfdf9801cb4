/** How the server reaches nodes: those that run in this process are added, and all others are reached over the network. */
import { connectionByNode, NO_CONNECTION, type NodeConnection } from '../../server/outbound/nodes/connection.ts';

interface LocalNodes {
  readonly has: (node: string) => boolean;
  readonly connection: NodeConnection;
}

export class NodeConnections {
  readonly #local: LocalNodes[] = [];

  /** Adds nodes of this process; `has` says which. */
  add(has: LocalNodes['has'], connection: NodeConnection): void {
    this.#local.push({ has, connection });
  }

  /** Reaches all nodes; `remote` reaches those of other processes. */
  over(remote: NodeConnection = NO_CONNECTION): NodeConnection {
    return connectionByNode((node) => this.#local.find(({ has }) => has(node))?.connection ?? remote);
  }
}
