import { GetParametersCommand, SSMClient } from '@aws-sdk/client-ssm';

/** Values by full parameter name, decrypted; a name that does not exist is left out. */
export async function readSsmParameters(Names: string[]): Promise<Record<string, string>> {
  const reply = await new SSMClient({}).send(new GetParametersCommand({ Names, WithDecryption: true }));
  return Object.fromEntries((reply.Parameters ?? []).map(({ Name, Value }) => [Name ?? '', Value ?? '']));
}
