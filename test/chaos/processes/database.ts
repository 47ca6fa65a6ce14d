/** dynalite in a process of its own, in memory. */
import { startDynamo } from '../../../infra/local/dynamo/dynamo.ts';
import type { Ready } from '../../support/node-process.ts';
import { endWithParent } from './end-with-parent.ts';

endWithParent();

const dynamo = await startDynamo();
process.send?.({ kind: 'ready', url: dynamo.url } satisfies Ready);
