import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { WakeConfig } from '../config.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Waker } from '../ports.ts';
import { awsTransport, localAws } from './transport.ts';

/** Asynchronous invoke: answers as soon as Lambda has queued the event. A failure only means waiting for the schedule. */
export function lambdaWaker({ drainFunction, endpoint }: WakeConfig, log: Log): Waker {
  const client = new LambdaClient({ maxAttempts: 2, ...awsTransport(1, 2_000), ...localAws(endpoint) });
  return {
    async wake(as) {
      const payload = as === undefined ? {} : { Payload: JSON.stringify({ [as]: true }) };
      const command = new InvokeCommand({ FunctionName: drainFunction, InvocationType: 'Event', ...payload });
      try {
        await client.send(command);
      } catch (error) {
        log.warn('drain_not_woken', { error: messageOf(error) });
      }
    },
  };
}
