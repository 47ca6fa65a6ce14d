import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { awsTransport, localAws } from './transport.ts';

/** Asynchronous invoke: answers as soon as Lambda has queued the event. Rejects with the SDK's error. */
export function lambdaInvoker(functionName: string, endpoint: string | undefined): (event: object) => Promise<void> {
  const client = new LambdaClient({ maxAttempts: 2, ...awsTransport(1, 2_000), ...localAws(endpoint) });
  return async (event) => {
    const Payload = JSON.stringify(event);
    await client.send(new InvokeCommand({ FunctionName: functionName, InvocationType: 'Event', Payload }));
  };
}
