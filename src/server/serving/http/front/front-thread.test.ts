import { httpContract } from '../../../../../test/support/http-contract/contract.ts';
import { startWithFrontThread } from '../../../../../test/support/http-server.ts';

httpContract(startWithFrontThread);
