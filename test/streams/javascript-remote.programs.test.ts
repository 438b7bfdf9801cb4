import { javascriptStreams } from './javascript-suite.ts';
import { remoteNode } from './remote-node.ts';

javascriptStreams(remoteNode);
