import { realPods } from './suite.ts';

realPods({ runtime: 'process', image: 'host', clusterCidr: '10.232.0.0/16', skip: undefined });
