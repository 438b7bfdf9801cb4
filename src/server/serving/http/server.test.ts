import { httpContract } from '../../../../test/support/http-contract/contract.ts';
import { startServer } from '../../../../test/support/http-server.ts';

httpContract(startServer);
