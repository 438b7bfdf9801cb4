import { hostNode } from './host-node.ts';
import { kubectlStreams } from './kubectl-suite.ts';

kubectlStreams(hostNode);
