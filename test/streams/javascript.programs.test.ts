import { hostNode } from './host-node.ts';
import { javascriptStreams } from './javascript-suite.ts';

javascriptStreams(hostNode);
