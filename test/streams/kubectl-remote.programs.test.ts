import { kubectlStreams } from './kubectl-suite.ts';
import { remoteNode } from './remote-node.ts';

kubectlStreams(remoteNode);
