import type { Environment } from '../config.ts';
import { withSecrets } from '../secrets.ts';

/** The environment with the wanted secrets in it. SSM's client is loaded only where a secret lies there. */
export function fillSecrets(environment: Environment, wanted: string[]): Promise<Environment> {
  return withSecrets(environment, wanted, async (names) =>
    (await import('../aws/ssm-parameters.ts')).readSsmParameters(names),
  );
}
