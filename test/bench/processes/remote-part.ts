/** A stand-in for a remote service, in a process of its own: `bridge` (Upstash over REST) or `dynamo` (dynalite, in memory). */
import { startDynamo } from '../../../infra/local/dynamo/dynamo.ts';
import { startUpstashRest } from '../../../infra/local/upstash-rest/upstash-rest.ts';
import type { Ready } from '../../support/node-process.ts';

const { PART, REDIS_PORT, PART_KEY } = process.env;
const part =
  PART === 'bridge'
    ? await startUpstashRest({ redisPort: Number(REDIS_PORT), token: PART_KEY ?? '' })
    : await startDynamo();
process.on('disconnect', () => process.exit(0));
process.send?.({ kind: 'ready', url: part.url } satisfies Ready);
