import { GetParametersCommand, type GetParametersCommandOutput, SSMClient } from '@aws-sdk/client-ssm';

/** Values by full parameter name, decrypted; a name that does not exist is left out. */
export async function readSsmParameters(names: string[]): Promise<Record<string, string>> {
  const client = new SSMClient({});
  const calls: Promise<GetParametersCommandOutput>[] = [];
  for (let start = 0; start < names.length; start += namesMax) {
    const Names = names.slice(start, start + namesMax);
    calls.push(client.send(new GetParametersCommand({ Names, WithDecryption: true })));
  }
  const found = (await Promise.all(calls)).flatMap(({ Parameters = [] }) => Parameters);
  return Object.fromEntries(found.map(({ Name, Value }) => [Name ?? '', Value ?? '']));
}

/** In one call, by SSM's own limit. */
const namesMax = 10;
