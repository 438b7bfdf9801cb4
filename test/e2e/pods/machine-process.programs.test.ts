import { realMachine } from './machine.ts';

const isRoot = process.getuid?.() === 0;

realMachine({
  runtime: 'process',
  image: 'host',
  clusterCidr: '10.234.0.0/16',
  serviceRange: '10.134.0.0/16',
  skip: undefined,
});
realMachine({
  ...{ runtime: 'process', image: 'host', clusterCidr: '10.235.0.0/16', serviceRange: '10.135.0.0/16', uid: 65_534 },
  skip: isRoot ? undefined : 'another user can only be tested by root',
});
