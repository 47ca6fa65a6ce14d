import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';
import type { ReadParameters } from '../secrets.ts';

/** In one call, by SSM's own limit. */
const namesMax = 10;
/** Of one attempt; and of all attempts together, so that an authorizer, which has 5 s, can still answer. */
const attemptMs = 1_500;
const totalMs = 3_500;

/**
 * Reads values by full parameter name, decrypted; a name that does not exist is left out. Where SSM is follows from the
 * SDK's own variables: AWS_REGION, and AWS_ENDPOINT_URL_SSM for an emulator.
 */
export function ssmReader(): ReadParameters {
  // The SDK's own handler: the authorizer has no other use for undici, which would be a third of its package.
  const requestHandler = { connectionTimeout: 1_000, requestTimeout: attemptMs, throwOnRequestTimeout: true };
  const client = new SSMClient({ maxAttempts: 3, requestHandler });
  return async (names) => {
    const abortSignal = AbortSignal.timeout(totalMs);
    const calls = Array.from({ length: Math.ceil(names.length / namesMax) }, (_, page) => {
      const Names = names.slice(page * namesMax, (page + 1) * namesMax);
      return client.send(new GetParametersCommand({ Names, WithDecryption: true }), { abortSignal });
    });
    const found = (await Promise.all(calls)).flatMap(({ Parameters = [] }) => Parameters);
    return Object.fromEntries(found.map(({ Name, Value }) => [Name ?? '', Value ?? '']));
  };
}
